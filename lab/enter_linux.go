package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Namespaces of a process, by the names that /proc has for them.
var (
	OnlyNetwork = []string{"net"}
	// All but those of users and control groups, which are this process's.
	Container = []string{"ipc", "uts", "net", "pid", "mnt"}
)

// EnterOf returns what moves a thread, for good, into namespaces of a process. What it
// starts from then on is in them, too; it is the parent all the same.
func EnterOf(pid int, namespaces []string) func() error {
	return func() error {
		var all []*os.File
		defer func() {
			for _, f := range all {
				_ = f.Close()
			}
		}()
		for _, ns := range namespaces { // before the first is entered: then this /proc is gone
			f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "ns", ns))
			if err != nil {
				return fmt.Errorf("enter the container: %w", err)
			}
			all = append(all, f)
		}
		// A thread has directories in common with the others until it says otherwise.
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			return fmt.Errorf("enter the container: %w", err)
		}
		for _, f := range all {
			err := unix.Setns(int(f.Fd()), 0)
			if err == unix.EPERM {
				return fmt.Errorf("enter the container's namespace %s: %w: root needs CAP_SYS_ADMIN here, which a container has that is started with --privileged", f.Name(), err)
			}
			if err != nil {
				return fmt.Errorf("enter the container's namespace %s: %w", f.Name(), err)
			}
		}
		return nil
	}
}
