package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	api "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/lockbench/lockbench/lab"
)

const (
	// callBound is how long one call to the engine may take.
	callBound = 10 * time.Second
	// outputBound is how long after a container's end its output is awaited.
	outputBound = 2 * time.Second
)

// container is a program running in a container. It implements [lab.Process].
type container struct {
	engine         *client.Client
	host, endpoint string
	id             string

	cancel context.CancelFunc // ends the following of output and end
	done   chan struct{}      // closed when the program has ended
	err    error              // how it ended; set before done is closed
}

var _ lab.Process = (*container)(nil)

// follow copies the container's output and notices its end. What would go to a
// stdout that is nil goes to stderr.
func follow(engine *client.Client, host, id string, stdout, stderr io.Writer) (*container, error) {
	if stdout == nil {
		stdout = stderr
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &container{engine: engine, host: host, id: id, cancel: cancel, done: make(chan struct{})}
	output, err := engine.ContainerLogs(ctx, id,
		client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Follow: true})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("follow its output: %w", err)
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		defer output.Close()
		_, _ = stdcopy.StdCopy(orDiscard(stdout), orDiscard(stderr), output) // the engine ends it as it likes
	}()
	end := engine.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: api.WaitConditionNotRunning})
	go func() {
		defer close(c.done)
		c.err = c.await(ctx, end)
		select {
		case <-copied:
		case <-time.After(outputBound):
		}
	}()
	return c, nil
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// await translates the engine's word on the end of the container.
func (c *container) await(ctx context.Context, end client.ContainerWaitResult) error {
	select {
	case r := <-end.Result:
		switch {
		case r.Error != nil:
			return fmt.Errorf("docker: %s: %s", c.host, r.Error.Message)
		case r.StatusCode != 0:
			return fmt.Errorf("docker: %s: exit status %d", c.host, r.StatusCode)
		}
		return nil
	case err := <-end.Error:
		return fmt.Errorf("docker: %s: wait for its end: %w", c.host, err)
	case <-ctx.Done(): // removed
		return fmt.Errorf("docker: %s: %w", c.host, errClosed)
	}
}

// Name implements [lab.Process].
func (c *container) Name() string { return c.host }

// Addr implements [lab.Process].
func (c *container) Addr() string { return c.host }

// Endpoint implements [lab.Process]: where this machine reaches the program.
func (c *container) Endpoint() string { return c.endpoint }

// Wait implements [lab.Process]. A paused program has not ended.
func (c *container) Wait() error {
	<-c.done
	return c.err
}

// Signal implements [lab.Process]. SIGSTOP and SIGCONT pause and unpause the
// container with everything in it: a program that is its container's first
// process could not be stopped by the signal itself. Like the signals, doing
// either twice is no error. The error of a program that has ended is
// [os.ErrProcessDone].
func (c *container) Signal(sig syscall.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), callBound)
	defer cancel()
	var err error
	switch sig {
	case syscall.SIGSTOP:
		_, err = c.engine.ContainerPause(ctx, c.id, client.ContainerPauseOptions{})
	case syscall.SIGCONT:
		_, err = c.engine.ContainerUnpause(ctx, c.id, client.ContainerUnpauseOptions{})
	default:
		_, err = c.engine.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: strconv.Itoa(int(sig))})
	}
	if err == nil || c.already(ctx, sig, &err) {
		return nil
	}
	return fmt.Errorf("docker: signal %v to %s: %w", sig, c.host, err)
}

// already reports whether a signal that the engine refused has nothing to do. If
// it was refused because the program has ended, *err becomes that.
func (c *container) already(ctx context.Context, sig syscall.Signal, err *error) bool {
	found, failed := c.engine.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if failed != nil {
		return false
	}
	state := found.Container.State
	if !state.Running {
		*err = os.ErrProcessDone
		return false
	}
	return sig == syscall.SIGSTOP && state.Paused || sig == syscall.SIGCONT && !state.Paused
}

// remove kills the program and removes its container.
func (c *container) remove(ctx context.Context) error {
	err := removeContainer(ctx, c.engine, c.id)
	if err != nil {
		err = fmt.Errorf("docker: remove the container of %s: %w", c.host, err)
		c.cancel() // it may never end
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("docker: wait for the end of %s: %w", c.host, ctx.Err()))
	}
	c.cancel()
	return err
}
