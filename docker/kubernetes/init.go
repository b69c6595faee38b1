package main

import (
	"os"
	"syscall"
)

// What the tool calls itself with, as the first process of new namespaces.
const (
	verbCluster = "first-of-cluster"
	verbNode    = "first-of-node"
)

// asInit does the work in a child, if this is the first process of a PID namespace, and
// collects whatever ends there: orphans are the first process's children, and os/exec
// would not forgive it if somebody else collected its own. Files beyond the standard ones
// are handed on.
func asInit(work func() error, files ...uintptr) error {
	if os.Getpid() != 1 {
		return work()
	}
	child, err := syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: append([]uintptr{0, 1, 2}, files...),
	})
	if err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if pid == child {
			os.Exit(status.ExitStatus())
		}
	}
}
