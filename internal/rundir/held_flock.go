//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package rundir

import (
	"errors"
	"os"
	"syscall"
)

// Hold says to [Held] that somebody is at work in the directory, until release is called or
// the program has ended, however it did: the kernel keeps a lock on the directory, and
// nothing is left in it. Several may hold one. Where the file system has no locks it says
// nothing.
func Hold(dir string) (release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for errors.Is(flock(f, syscall.LOCK_SH), syscall.EINTR) {
	}
	return func() { _ = f.Close() } // nothing was written
}

// Held reports whether somebody on this machine is at work in the directory.
func Held(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close() // and with it the lock, if it was free
	return errors.Is(flock(f, syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

func flock(f *os.File, how int) error { return syscall.Flock(int(f.Fd()), how) }
