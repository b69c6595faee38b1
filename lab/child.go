package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// readyBound is how long a program may take to answer where the caller's
	// context sets no earlier end.
	readyBound = time.Minute
	// outputBound is how long after a child's end its output is still awaited,
	// in case that something else holds the other end of the pipe.
	outputBound = 2 * time.Second
)

// Child is a program that runs as a child process. It implements [Process].
type Child struct {
	name, addr, endpoint string

	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended and been reaped
	err  error         // how it ended; set before done is closed
}

var _ Process = (*Child)(nil)

// StartChild starts p from l at the place, and returns when it is ready: within
// ctx, and within one minute. The child outlives ctx; it
// ends with [Child.Kill], with l, or with this process.
//
// Where p.Stdin is not a file it is read until it ends or fails, even after the
// child has ended: close it to free its reader.
func StartChild(ctx context.Context, l *Launcher, at Place, p Program) (*Child, error) {
	name := at.Name
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	var cmd *exec.Cmd
	err := l.Do(func() (err error) { // where the files are
		cmd, err = command(at, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	c := &Child{name: name, addr: at.Addr, endpoint: Endpoint(at.Addr, p.Port), cmd: cmd, done: make(chan struct{})}
	feed, err := connectStdin(cmd, p.Stdin)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := l.Start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go feed()
	go c.reap()
	if err := AwaitReady(ctx, p, c.endpoint, c.done); err != nil {
		c.Kill()
		return nil, fmt.Errorf("start %s: %s: %w (it ended with: %v)", name, p.Argv[0], err, c.err)
	}
	return c, nil
}

// command is p as a command, not yet started, with its files in place.
func command(at Place, p Program) (*exec.Cmd, error) {
	expand := p.Expander(at.Addr, p.Port, at.Dir)
	argv, err := expand.Argv()
	if err != nil {
		return nil, err
	}
	for name, text := range p.Files {
		if err := os.WriteFile(filepath.Join(at.Dir, name), []byte(expand.Replace(text)), 0o644); err != nil {
			return nil, err
		}
	}
	for name, text := range p.Seeds {
		if err := sow(filepath.Join(at.Dir, name), expand.Replace(text)); err != nil {
			return nil, err
		}
	}
	if argv, err = at.command(p, argv); err != nil {
		return nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = childAttr(at.Contained)
	cmd.WaitDelay = outputBound
	if p.Reports != nil {
		cmd.ExtraFiles = []*os.File{p.Reports}
	}
	cmd.Env = at.environment()
	for _, v := range p.Env {
		cmd.Env = append(cmd.Env, expand.Replace(v))
	}
	cmd.Stdout, cmd.Stderr = p.Stdout, p.Log
	if cmd.Stdout == nil {
		cmd.Stdout = p.Log
	}
	return cmd, nil
}

// Empty removes what a program has left in its directory, but for its seeds.
func Empty(dir string, p Program) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if _, seed := p.Seeds[e.Name()]; !seed {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// sow writes a file unless it is there.
func sow(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// connectStdin leaves the copying out of [exec.Cmd.Wait]'s care, which would
// wait for the reader's end even when the child is long dead.
func connectStdin(cmd *exec.Cmd, r io.Reader) (feed func(), err error) {
	if f, ok := r.(*os.File); ok || r == nil {
		if ok {
			cmd.Stdin = f
		}
		return func() {}, nil
	}
	w, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return func() {
		_, _ = io.Copy(w, r) // fails when the child has ended, and then nobody misses it
		_ = w.Close()
	}, nil
}

// reap waits for the end of the process; a stopped process has not ended. What
// it leaves of its process group goes with it.
func (c *Child) reap() {
	c.err = c.cmd.Wait()
	if errors.Is(c.err, exec.ErrWaitDelay) {
		c.err = nil // it ended well, only a helper of it still held its output
	}
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	close(c.done)
}

// Name is the name of the child's host.
func (c *Child) Name() string { return c.name }

// Addr is the address of the child's host.
func (c *Child) Addr() string { return c.addr }

// Endpoint is the host:port at which it listens, "" if it doesn't.
func (c *Child) Endpoint() string { return c.endpoint }

// Pid is the process id, as this process sees it.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Signal sends sig to the process, not to its helpers. The error of a process
// that has ended is [os.ErrProcessDone].
func (c *Child) Signal(sig syscall.Signal) error {
	if err := c.cmd.Process.Signal(sig); err != nil {
		return fmt.Errorf("signal %v to %s: %w", sig, c.name, err)
	}
	return nil
}

// Wait returns when the process has ended: nil for exit code 0, an
// [exec.ExitError] otherwise. It may be called any number of times.
func (c *Child) Wait() error {
	<-c.done
	return c.err
}

// Done is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Kill kills the process and its helpers and returns when it is gone.
func (c *Child) Kill() {
	select {
	case <-c.done:
		return // its number may be somebody else's by now
	default:
	}
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.done
}

// Self is the Argv[0] that means this very program.
const Self = "lockbench"

// Expander fills in what only the lab knows of a program: "{addr}" and "{port}",
// to listen at, and "{dir}", to keep data in.
type Expander struct {
	*strings.Replacer
	argv []string
}

// Expander returns the one for p at this place.
func (p Program) Expander(addr string, port int, dir string) Expander {
	return Expander{strings.NewReplacer("{addr}", addr, "{port}", strconv.Itoa(port), "{dir}", dir), p.Argv}
}

// Argv is the program's command.
func (e Expander) Argv() ([]string, error) {
	if len(e.argv) == 0 {
		return nil, errors.New("the program has no command")
	}
	argv := make([]string, len(e.argv))
	for i, a := range e.argv {
		argv[i] = e.Replace(a)
	}
	return argv, nil
}

// Endpoint joins addr and port, or is "" for port 0.
func Endpoint(addr string, port int) string {
	if port == 0 {
		return ""
	}
	return net.JoinHostPort(addr, strconv.Itoa(port))
}

// AwaitReady asks p.Ready until it is content: within ctx, within one minute,
// and for as long as done is open, which says that the program has ended.
func AwaitReady(ctx context.Context, p Program, endpoint string, done <-chan struct{}) error {
	if p.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyBound)
	defer cancel()
	for delay := 5 * time.Millisecond; ; delay = min(2*delay, 100*time.Millisecond) {
		err := tryReady(ctx, p, endpoint)
		if err == nil {
			return nil
		}
		select {
		case <-done:
			return fmt.Errorf("ended before it was ready: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w: %w", ctx.Err(), err)
		case <-time.After(delay):
		}
	}
}

// tryReady bounds one question, so that an answer lost while the program was
// starting costs a second and not the whole wait.
func tryReady(ctx context.Context, p Program, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return p.Ready(ctx, endpoint)
}

// Detach prepares cmd to be started by a [Launcher] as a child that neither the
// terminal's Ctrl-C nor this process's death can leave running.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = childAttr(false) }
