package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hasTimeNamespaces says why no host can have a clock of its own here, or nil.
func hasTimeNamespaces() error {
	if _, err := os.Stat("/proc/self/ns/time"); err != nil {
		return errors.New("this kernel has no time namespaces (CONFIG_TIME_NS)")
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return fmt.Errorf("ask for the kernel's version: %w", err)
	}
	release := unix.ByteSliceToString(u.Release[:])
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err == nil && (major < 6 || major == 6 && minor < 2) {
		return fmt.Errorf("a program with a clock of its own takes Linux 6.2 or later, and this is %s", release)
	}
	return nil
}

// OwnClock implements [Timed], by a time namespace: what the host's thread starts is in it, the thread
// itself is not.
func (h *host) OwnClock(ahead time.Duration) error {
	err := h.Do(func() error {
		if err := unix.Unshare(unix.CLONE_NEWTIME); err != nil {
			return fmt.Errorf("new time namespace: %w", err)
		}
		// By the number of this thread: "self" is the process's first one.
		offsets := fmt.Sprintf("/proc/%d/timens_offsets", unix.Gettid())
		line := fmt.Sprintf("monotonic %d %d\n", ahead/time.Second, ahead%time.Second)
		return os.WriteFile(offsets, []byte(line), 0)
	})
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: root in a container needs the capability SYS_TIME for it", err)
	}
	if err != nil {
		return fmt.Errorf("give %s a clock of its own: %w", h.name, err)
	}
	h.ownClock = true
	return nil
}

// misplaced explains why a program does not start on a host with a clock of its own.
func (h *host) misplaced(err error) error {
	if h.ownClock && errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: a program with a clock of its own takes Linux 6.2 or later", err)
	}
	return err
}
