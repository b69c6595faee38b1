package lab

import (
	"syscall"

	"github.com/lockbench/lockbench/internal/processes"
)

// signalBelow stops or continues all that a process has started, who is stopped or continued already. Other
// signals are for that one process, which tells the others.
func signalBelow(pid int, sig syscall.Signal) error {
	switch sig {
	case syscall.SIGSTOP:
		_, err := processes.Stop(pid)
		return err
	case syscall.SIGCONT:
		all, err := processes.Of(pid)
		for _, one := range all {
			_ = syscall.Kill(one, sig) // whoever has ended needs it no more
		}
		return err
	}
	return nil
}
