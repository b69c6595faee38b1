package run

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// Kill implements [faults.ServerActs].
func (s *strike) Kill(ctx context.Context, n faults.Node) error {
	return s.end(ctx, n, "kill", (*lab.Server).Kill)
}

// ShutDown implements [faults.ServerActs].
func (s *strike) ShutDown(ctx context.Context, n faults.Node) error {
	return s.end(ctx, n, "shut down", (*lab.Server).ShutDown)
}

// end ends a server in one way or the other; nobody may start it again before it is healed.
func (s *strike) end(ctx context.Context, n faults.Node, name string, how func(*lab.Server, context.Context) error) error {
	server, err := s.server(n)
	if err != nil {
		return err
	}
	end := s.act(name, n.Name(), 0)
	s.acts.mu.Lock()
	s.acts.down[n.Name()] = true
	s.acts.mu.Unlock()
	// Before it is done: what comes half way is undone, too.
	s.acts.undone(func(ctx context.Context) error {
		s.acts.mu.Lock()
		down := s.acts.down[n.Name()]
		s.acts.mu.Unlock()
		if !down {
			return nil
		}
		_, err := s.restart(ctx, server, false)
		return err
	})
	if err := how(server, ctx); err != nil {
		return err
	}
	end("")
	return ctx.Err()
}

// Restart implements [faults.ServerActs].
func (s *strike) Restart(ctx context.Context, n faults.Node, empty bool) func(context.Context) (time.Duration, error) {
	type answer struct {
		down time.Duration
		err  error
	}
	server, err := s.server(n)
	if err != nil {
		return func(context.Context) (time.Duration, error) { return 0, err }
	}
	s.acts.mu.Lock()
	s.acts.down[n.Name()] = false
	s.acts.mu.Unlock()
	back := make(chan answer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), healBound+aServer(s.plan.TTL))
		defer cancel()
		down, err := s.restart(ctx, server, empty)
		back <- answer{down, err}
	}()
	await := func(ctx context.Context) (time.Duration, error) {
		select {
		case a := <-back:
			back <- a // for who asks next
			return a.down, a.err
		case <-ctx.Done():
			return 0, fmt.Errorf("%s is not back: %w", n.Name(), ctx.Err())
		}
	}
	s.acts.undone(func(ctx context.Context) error {
		_, err := await(ctx)
		return err
	})
	return await
}

func (s *strike) restart(ctx context.Context, server *lab.Server, empty bool) (time.Duration, error) {
	name := "restart"
	if empty {
		name = "restart empty"
	}
	start, end := time.Now(), s.act(name, server.Name(), 0)
	if err := server.Restart(ctx, empty); err != nil {
		return 0, err
	}
	end("")
	return time.Since(start), nil
}

// Replace implements [faults.OperatorActs].
func (s *strike) Replace(ctx context.Context, n faults.Node) error {
	end := s.act("replace member", n.Name(), 0)
	defer end("")
	return s.service.Replace(ctx, n.Name())
}

// Freeze implements [faults.ServerActs].
func (s *strike) Freeze(ctx context.Context, n faults.Node) error {
	server, err := s.server(n)
	if err != nil {
		return err
	}
	end := s.act(history.ActFreeze, n.Name(), 0)
	if err := server.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	s.acts.undone(func(context.Context) error {
		defer end("")
		return server.Signal(syscall.SIGCONT)
	})
	return ctx.Err()
}

// Promote implements [faults.OperatorActs].
func (s *strike) Promote(ctx context.Context, n faults.Node) error {
	if s.setting.Topology.Elects() {
		return nil
	}
	end := s.act("promote", n.Name(), 0)
	defer end("")
	return s.service.Promote(ctx, n.Name())
}
