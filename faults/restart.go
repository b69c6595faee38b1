package faults

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	lb "github.com/lockbench/lockbench"
)

// RestartServer kills a server while a client holds the lock and starts it again at
// once, with what its disk holds.
type RestartServer struct{}

func (RestartServer) Name() string { return "restart-server" }
func (RestartServer) Doc() string {
	return "SIGKILL a server while a client holds the lock, and start it again with its disk"
}
func (RestartServer) Available(s lb.Setting) error {
	return errors.Join(needsServers(s), knows(s, whileHolding))
}
func (RestartServer) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return restart(ctx, on, false)
}

// RestartEmpty is [RestartServer] after which the server has forgotten everything.
type RestartEmpty struct{}

func (RestartEmpty) Name() string { return "restart-empty" }
func (RestartEmpty) Doc() string {
	return "SIGKILL a server while a client holds the lock, and start it again with an empty disk"
}
func (RestartEmpty) Available(s lb.Setting) error {
	if s.Leader {
		return errors.New("a server of a cluster that comes back empty under its old name breaks the cluster's own rules")
	}
	return errors.Join(needsServers(s), knows(s, whileHolding))
}
func (RestartEmpty) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return restart(ctx, on, true)
}

func restart(ctx context.Context, on lb.Stage, empty bool) (lb.Heal, error) {
	c, err := on.Catch(ctx, whileHolding, lb.Hold)
	if err != nil {
		return nil, err
	}
	servers := on.Servers()
	s := servers[on.Rand().IntN(len(servers))]
	start := lb.Now()
	err = s.Signal(syscall.SIGKILL)
	if err == nil {
		err = s.Restart(context.WithoutCancel(ctx), empty)
	}
	if err != nil {
		_, err2 := c.LetGo(ctx)
		return nil, errors.Join(err, err2)
	}
	down := lb.Now().Sub(start)
	return func(ctx context.Context) (lb.Effect, error) {
		whileOthersWork(ctx, on, c.Worker)
		_, err := c.LetGo(ctx)
		return lb.Effect{Bit: true, Measured: fmt.Sprintf("%s was killed while %s held the lock, and answered again after %s",
			s.Name(), c.Client, seconds(down))}, err
	}, nil
}
