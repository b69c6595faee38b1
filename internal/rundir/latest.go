package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Home is where directories are made that nobody named.
const Home = "runs"

// NewDir is a name for a new directory, by the time and what it is of.
func NewDir(what string) string {
	return filepath.Join(Home, time.Now().Format("20060102-150405.000")+"-"+Portable(what))
}

// Latest points the link "latest" beside dir at it. What is there and is no such link
// is somebody else's, and stays.
func Latest(dir string) error {
	link := filepath.Join(filepath.Dir(dir), "latest")
	_, err := os.Lstat(link)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("rundir: %w", err)
	default:
		if to, err := os.Readlink(link); err != nil || to == ".." || to != filepath.Base(to) {
			return nil
		}
	}
	// Another lockbench may do the same now: the link is replaced at once.
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(filepath.Base(dir), fresh); err != nil {
		return fmt.Errorf("rundir: %w", err)
	}
	if err := os.Rename(fresh, link); err != nil {
		return fmt.Errorf("rundir: %w", errors.Join(err, os.Remove(fresh)))
	}
	return nil
}
