package worker

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// stopSelf stops the process until somebody continues it, at this instruction.
// The signal goes to this very thread: one for the process may be taken by another
// thread, some milliseconds later, when the client has already gone on.
func stopSelf() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP)
}
