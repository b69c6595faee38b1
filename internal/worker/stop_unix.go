//go:build unix && !linux

package worker

import (
	"os"
	"syscall"
	"time"
)

// stopSelf stops the process until somebody continues it. It is given a moment to
// take effect, since any thread may take the signal.
func stopSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	time.Sleep(50 * time.Millisecond)
}
