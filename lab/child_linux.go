package lab

import "syscall"

// childAttr puts a child into a process group of its own, out of the reach of
// the terminal's Ctrl-C and killable with all of its helpers, and has the kernel
// kill it when this process dies however suddenly.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
