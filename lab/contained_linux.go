package lab

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// mayInContainer are the capabilities that the first process of a container has by
// default (capabilities(7); the list is that of Docker's documentation, "Runtime
// privilege and Linux capabilities"), but for making devices: which of them may be used, a
// container's control group would say.
var mayInContainer = []int{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL,
	unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_SETPCAP, unix.CAP_NET_BIND_SERVICE,
	unix.CAP_NET_RAW, unix.CAP_SYS_CHROOT, unix.CAP_AUDIT_WRITE, unix.CAP_SETFCAP,
}

// Confined becomes the program of argv, which has no more capabilities than the first
// process of a container: who enters one from outside brings all along. It dies with the
// thread that started it.
func Confined(argv []string) error {
	if len(argv) == 0 {
		return fmt.Errorf("%s: no program is given", confined)
	}
	runtime.LockOSThread() // rights are this thread's, and so is what it becomes
	for c := range unix.CAP_LAST_CAP + 1 {
		if slices.Contains(mayInContainer, c) {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && err != unix.EINVAL { // one that this kernel lacks
			return fmt.Errorf("%s: %w", confined, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var own [2]unix.CapUserData
	if err := unix.Capget(&header, &own[0]); err != nil {
		return fmt.Errorf("%s: %w", confined, err)
	}
	own[0].Inheritable, own[1].Inheritable = 0, 0
	if err := unix.Capset(&header, &own[0]); err != nil {
		return fmt.Errorf("%s: %w", confined, err)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("%s: %w", confined, err)
	}
	return fmt.Errorf("start %s: %w", argv[0], unix.Exec(argv[0], argv, os.Environ()))
}

// Idle is the first process of a host's container: it keeps the container, and buries
// whoever dies there without a parent.
func Idle() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGCHLD, unix.SIGTERM)
	for s := range signals {
		if s == unix.SIGTERM {
			break
		}
		for {
			if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
	return nil
}
