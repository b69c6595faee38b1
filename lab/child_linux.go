package lab

import "syscall"

// childAttr puts a child into a process group of its own, out of the reach of
// the terminal's Ctrl-C and killable with all of its helpers, and has the kernel
// kill it when this process dies however suddenly. One that can't see its parent, being
// contained, would take it for dead: [Confined] asks for that later.
func childAttr(contained bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if !contained {
		attr.Pdeathsig = syscall.SIGKILL
	}
	return attr
}
