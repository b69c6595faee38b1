//go:build !linux

package foreign

import "syscall"

func dieWithThread(*syscall.SysProcAttr) {}
