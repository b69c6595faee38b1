//go:build unix

package worker

import (
	"os"
	"syscall"
)

// killSelf does not return.
func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
