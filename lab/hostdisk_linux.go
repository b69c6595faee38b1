package lab

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// diskSize is what fits on a host's disk, which is memory: more than any server needs.
const diskSize = 1 << 30

// mountDisk gives a host a disk of its own.
func mountDisk(at string) error {
	return unix.Mount("lockbench", at, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize))
}

// FillDisk leaves no room on the host's disk, until it is given back.
func (h *host) FillDisk() (empty func() error, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.onDisk {
		return nil, errors.New("fill the disk of " + h.name + ": it is this machine's own")
	}
	var disk unix.Statfs_t
	if err := h.Do(func() error { return unix.Statfs(h.Dir(), &disk) }); err != nil {
		return nil, fmt.Errorf("fill the disk of %s: %w", h.name, err)
	}
	resize := func(size int64) error {
		if err := h.Do(func() error {
			return unix.Mount("", h.Dir(), "", unix.MS_REMOUNT, fmt.Sprintf("size=%d", size))
		}); err != nil {
			return fmt.Errorf("change the size of the disk of %s: %w", h.name, err)
		}
		return nil
	}
	return func() error { return resize(diskSize) }, resize(int64(disk.Blocks-disk.Bfree) * disk.Bsize)
}
