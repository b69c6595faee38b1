package lab

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// scratch is where programs keep their data, below a directory of their host's own: memory
// that ends with the lab.
const scratch = "/run"

// Isolate makes cmd, which must be this very program, start as the first process
// of new network, mount and PID namespaces, and of a user namespace where we are
// not root. When that process dies, and it dies with this one, the kernel ends
// every process, interface and mount of the lab.
func Isolate(cmd *exec.Cmd) {
	attr := childAttr(false)
	attr.Cloneflags = unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID
	if uid := os.Geteuid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	cmd.SysProcAttr = attr
}

// settle makes the new namespaces our own. Nothing mounted here is seen outside.
func settle() error {
	if os.Getpid() != 1 {
		return fmt.Errorf("not in namespaces of its own; start it through the run command")
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("lockbench", scratch, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount scratch memory on %s: %w", scratch, err)
	}
	// The old /proc shows the processes outside. Where the machine does not let us
	// have our own (a container that masks parts of it), nothing here needs it.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	return nil
}
