//go:build unix && !linux

package lab

import "syscall"

// childAttr puts a child into a process group of its own, out of the reach of
// the terminal's Ctrl-C and killable with all of its helpers. There is no parent
// death signal here: a killed lockbench leaves its children running.
func childAttr(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
