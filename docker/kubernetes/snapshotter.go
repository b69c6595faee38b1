package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// findSnapshotter is how containers share the files of their image: by overlays, unless the
// directory is on a file system that can't have one, as in many containers. There each
// container gets a copy.
func (c cluster) findSnapshotter() (string, error) {
	work := filepath.Join(c.Dir, "overlay")
	defer os.RemoveAll(work)
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(work, name), 0o755); err != nil {
			return "", err
		}
	}
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", work)
	merged := filepath.Join(work, "merged")
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		return "native", nil
	}
	return "overlayfs", unix.Unmount(merged, 0)
}
