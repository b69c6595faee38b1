package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// environment is the one of all programs: nothing of the user's who started them.
var environment = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/root",
	"TMPDIR=/var/tmp",
}

// keep runs a program, and runs it again whenever it ends, as the init of a machine would.
// It dies with the namespace.
func keep(log *os.File, program string, args ...string) {
	for {
		command := exec.Command(program, args...)
		command.Env = environment
		command.Stdout, command.Stderr = log, log
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		err := command.Run()
		fmt.Fprintf(log, "%s ended (%v) and is started again in a second\n", program, err)
		time.Sleep(time.Second)
	}
}

// openLog opens the log of a program; whoever comes later adds to it.
func (c cluster) openLog(name string) (*os.File, error) {
	return os.OpenFile(c.logs()+"/"+name+".log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}
