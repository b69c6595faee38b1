package foreign

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/lockbench/lockbench/internal/clock"
)

// Command is how a program is started.
type Command struct {
	// Line is the command as a shell takes it.
	Line string `json:"command"`
	// Dir is where it is started, "" for here.
	Dir string `json:"dir,omitempty"`
	// Env is added to the environment.
	Env []string `json:"env,omitempty"`
	// Title is how findings call it, "" for Line.
	Title string `json:"title,omitempty"`
}

func (c Command) title() string {
	if c.Title != "" {
		return c.Title
	}
	return c.Line
}

// start starts cmd on a thread of its own, which lives until the process has ended: it has the
// kernel kill it with this process, and what the kernel looks at is the thread. ended is
// called with how it ended.
func start(cmd *exec.Cmd, ended func(error)) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: nobody else needs it
		err := cmd.Start()
		started <- err
		if err == nil {
			ended(cmd.Wait())
		}
	}()
	return <-started
}

// cmd is the command, which follows this process's clocks; where that can't be, noClock says
// why.
func (c Command) cmd() (cmd *exec.Cmd, noClock error) {
	cmd = exec.Command("/bin/sh", "-c", c.Line)
	cmd.Dir = c.Dir
	clocks, noClock := clock.ForChildren()
	cmd.Env = append(append(os.Environ(), c.Env...), clocks...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithThread(cmd.SysProcAttr)
	return cmd, noClock
}
