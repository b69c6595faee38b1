package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/internal/processes"
)

// Server is one server of a topology: a program that can be started again where
// it was, as its machine's supervisor would. It implements [Server].
type Server struct {
	host    Host
	kind    Kind
	program Program
	log     func(name string) (*os.File, error)
	delay   time.Duration // before it starts again
	disk    *slowDisk     // nil where nobody is to stall it

	mu  sync.Mutex
	now Process // nil before the first start
}

// Name is the name of the server's host.
func (s *Server) Name() string { return s.host.Name() }

// Addr is the address of the server's host.
func (s *Server) Addr() string { return s.process().Addr() }

// Endpoint is the host:port at which clients reach the server.
func (s *Server) Endpoint() string { return s.process().Endpoint() }

// Signal sends sig to the server's process. What stops, continues or kills a machine does so to all
// processes that the server has started: some have one for each client.
func (s *Server) Signal(sig syscall.Signal) error {
	p, pid := s.process(), s.Pid()
	if sig == syscall.SIGKILL && pid != 0 {
		err := p.Signal(0) // one that has ended has left nobody, and its number may be another's
		if err == nil {
			processes.Kill(pid)
		}
		return err
	}
	if err := p.Signal(sig); err != nil || pid == 0 {
		return err
	}
	if err := signalBelow(pid, sig); err != nil {
		return fmt.Errorf("signal %v to what %s has started: %w", sig, s.Name(), err)
	}
	return nil
}

// Pid is the process id of the server, as this process sees it; 0 where the lab does not
// run it as a process of its own.
func (s *Server) Pid() int {
	if p, ok := s.process().(*Child); ok {
		return p.Pid()
	}
	return 0
}

func (s *Server) process() Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Kill ends the server's process and returns when it is gone, and with it the
// connections that it had: who asks too early, as on a busy machine, would find some of
// them.
func (s *Server) Kill(ctx context.Context) error {
	if err := s.Signal(syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", s.Name(), err)
	}
	return s.ended(ctx)
}

// shutDownBound is how long a server may take to end in good order, as its supervisor has it.
const shutDownBound = 5 * time.Second

// ShutDown asks the server to end, and kills it if it does not.
func (s *Server) ShutDown(ctx context.Context) error {
	if err := s.Signal(cmp.Or(s.kind.Stop, syscall.SIGTERM)); err != nil {
		return fmt.Errorf("shut %s down: %w", s.Name(), err)
	}
	patient, cancel := context.WithTimeout(ctx, shutDownBound)
	defer cancel()
	if s.ended(patient) == nil {
		return nil
	}
	return s.Kill(ctx)
}

// ended waits until the server's process is gone.
func (s *Server) ended(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { _ = s.process().Wait(); close(ended) }() // how it ended is known
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("kill %s: it has not ended: %w", s.Name(), ctx.Err())
	}
}

// Restart starts a server again that was killed, with what its disk holds or, if empty,
// with nothing, and returns when it answers. One that is still dying is waited for.
func (s *Server) Restart(ctx context.Context, empty bool) error {
	if err := s.ended(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(s.delay):
	case <-ctx.Done():
		return fmt.Errorf("restart %s: %w", s.Name(), ctx.Err())
	}
	p := s.program
	p.Fresh = empty
	return s.start(ctx, p)
}

func (s *Server) start(ctx context.Context, p Program) error {
	out, err := s.log(s.Name())
	if err != nil {
		return err
	}
	defer out.Close()
	p.Log = out
	if s.disk != nil {
		var started func()
		if p, started, err = s.disk.wrap(p); err != nil {
			return fmt.Errorf("start %s: %w", s.Name(), err)
		}
		defer started()
	}
	now, err := s.host.Start(ctx, p)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
	return nil
}

// ErrNoClock is a server whose clock can't be moved apart from the machine's.
var ErrNoClock = errors.New("its clock can't be moved")

// SetClock implements [Server].
func (s *Server) SetClock(ahead time.Duration, rate float64) error {
	if s.kind.Clock == nil {
		return fmt.Errorf("%s: %w", s.Name(), ErrNoClock)
	}
	return s.skew(ahead, rate)
}

// Clock implements [Server].
func (s *Server) Clock(ctx context.Context) (time.Duration, error) {
	if s.kind.Clock == nil {
		return 0, fmt.Errorf("%s: %w", s.Name(), ErrNoClock)
	}
	told, err := s.kind.Clock(ctx, s.Endpoint())
	if err != nil {
		return 0, fmt.Errorf("read the clock of %s: %w", s.Name(), err)
	}
	return time.Until(told), nil
}
