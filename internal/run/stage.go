package run

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
)

// The stage is what faults may touch: it implements [lb.Stage].
var _ lb.Stage = (*stage)(nil)

func (s *stage) Setting() lb.Setting { return s.setting }
func (s *stage) TTL() time.Duration  { return s.plan.TTL }
func (s *stage) Rand() *rand.Rand    { return s.rand }
func (s *stage) Network() lb.Network { return s.lab.Network() }

func (s *stage) Servers() (all []lb.Server) {
	for _, p := range s.service.Servers {
		all = append(all, p)
	}
	return all
}

func (s *stage) Sentinels() (all []lb.Server) {
	for _, p := range s.service.Sentinels {
		all = append(all, p)
	}
	return all
}

func (s *stage) Leader(ctx context.Context, except lb.Server) (lb.Server, error) {
	server, err := s.service.Leader(ctx, except)
	if err != nil {
		return nil, err
	}
	return server, nil
}

func (s *stage) Promote(ctx context.Context, server lb.Server) error {
	return s.service.Promote(ctx, server.Name())
}

func (s *stage) Workers() (all []lb.Worker) {
	for _, w := range s.alive() {
		all = append(all, w)
	}
	return all
}

func (s *stage) alive() (all []*workerProc) {
	for _, w := range s.workers {
		if w.alive() {
			all = append(all, w)
		}
	}
	return all
}

func (s *stage) Passed(ctx context.Context, step string, except lb.Process) error {
	var asked sync.WaitGroup
	defer asked.Wait() // a trap that is taken back late would take back the next one
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	passed := make(chan error, len(s.workers))
	for _, w := range s.alive() {
		if except != nil && w.Name() == except.Name() {
			continue
		}
		asked.Go(func() { passed <- w.Passed(ctx, step) })
	}
	for {
		select {
		case err := <-passed:
			if err == nil {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *stage) Catch(ctx context.Context, step string, how lb.Grip) (lb.Caught, error) {
	alive := s.alive()
	if len(alive) == 0 {
		return lb.Caught{}, errors.New("run: no worker is left")
	}
	return alive[s.rand.IntN(len(alive))].Catch(ctx, step, how)
}
