package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// down ends a cluster, whatever state it is in, and removes all that it made.
func down(dir string) error {
	c, err := load(dir)
	if err != nil {
		return err
	}
	if err := c.kill(); err != nil {
		return fmt.Errorf("end the cluster's processes: %w", err)
	}
	if err := removeGroups(c.Groups); err != nil {
		return fmt.Errorf("remove the control groups: %w", err)
	}
	return os.RemoveAll(dir)
}

// kill ends the first process, and the kernel all others with it. That they are gone, and
// their mounts with them, is certain when the first one is.
func (c cluster) kill() error {
	data, err := os.ReadFile(c.pidFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil // it was not even started
	}
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The number may be another's by now.
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || !bytes.Contains(line, []byte("\x00"+verbCluster+"\x00"+c.Dir+"\x00")) {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil {
		return err
	}
	const seconds = 30
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, seconds*1000); err != nil || n == 0 {
		return fmt.Errorf("process %d is still there %d s after it was killed (%v): try down again", pid, seconds, err)
	}
	return nil
}
