package history

import (
	"os"
	"syscall"
)

// mapWindow reserves the next bytes of the file, so that a full disk is an error
// here and not a fault at a later store, and maps them.
func mapWindow(f *os.File, from int64) ([]byte, error) {
	fd := int(f.Fd())
	if err := syscall.Fallocate(fd, 0, from, windowSize); err != nil {
		return nil, err
	}
	return syscall.Mmap(fd, from, windowSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmap(window []byte) error { return syscall.Munmap(window) }
