package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/internal/history"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/internal/worker"
)

// The runner owns durations. All that depend on the lease are multiples of it.
const (
	startBound = 30 * time.Second // for the lab, the servers and the sessions
	warmUp     = 300 * time.Millisecond
	catchBound = 5 * time.Second // for a client to come to the step of a fault
	healBound  = 15 * time.Second
	settle     = 500 * time.Millisecond // of work after the fault is over
	stopBound  = 10 * time.Second
)

// faultWindow is how long a fault lasts: long enough for a lease to end on the
// server, who may look for ended leases only twice a second, and for others to
// take the lock.
func faultWindow(ttl time.Duration) time.Duration { return ttl * 5 / 2 }

// recoveryBound is how long after the heal the lock may stay ungranted before
// it counts as stuck; half a second more than the checkers want to see.
func recoveryBound(ttl time.Duration) time.Duration {
	return max(3*ttl, 2*time.Second) + 500*time.Millisecond
}

// Perform does the run that dir's plan describes, inside the lab.
func Perform(ctx context.Context, dir string) error {
	plan, err := ReadPlan(dir)
	if err != nil {
		return err
	}
	fault, ok := faults.Find(plan.Fault)
	if !ok {
		return fmt.Errorf("run: %s: unknown fault %q", dir, plan.Fault)
	}
	rec, err := history.Create(filepath.Join(dir, history.Dir, "runner.jsonl"))
	if err != nil {
		return err
	}
	l, err := openLab(ctx, plan.Lab, dir)
	if err != nil {
		return errors.Join(err, rec.Close())
	}
	s := &stage{plan: plan, dir: dir, lab: l, record: rec.Record, rand: rand.New(rand.NewPCG(plan.Seed, 0))}
	err = s.play(ctx, fault)
	return errors.Join(err, l.Close(), rec.Close())
}

func openLab(ctx context.Context, name, dir string) (lab.Lab, error) {
	switch name {
	case LabLocal:
		return lab.OpenLocal()
	case LabDocker:
		return docker.Open(ctx, filepath.Join(dir, logDir))
	}
	return nil, fmt.Errorf("run: unknown lab %q", name)
}

// stage is the run in progress. It implements [lockbench.Stage].
type stage struct {
	plan    lb.Plan
	dir     string
	lab     lab.Lab
	record  func(lb.Event)
	rand    *rand.Rand
	servers []lab.Process
	workers []*workerProc
}

func (s *stage) play(ctx context.Context, fault lb.Fault) error {
	if err := s.setUp(ctx); err != nil {
		return err
	}
	start := lb.Now()
	for _, w := range s.workers {
		if err := w.order(worker.Order{Do: worker.DoStart}); err != nil {
			return err
		}
	}
	if err := sleep(ctx, warmUp); err != nil {
		return err
	}
	faultErr := s.strike(ctx, fault)
	rest := max(s.plan.Duration-lb.Now().Sub(start), settle)
	if err := sleep(ctx, rest); err != nil {
		return errors.Join(faultErr, err)
	}
	s.record(lb.Event{Kind: lb.KindEnd})
	return errors.Join(faultErr, s.stopWorkers(ctx))
}

func (s *stage) setUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	topology, ok := lab.FindTopology(s.plan.Topology)
	if !ok {
		return fmt.Errorf("run: unknown topology %q", s.plan.Topology)
	}
	store, err := s.startStore(ctx)
	if err != nil {
		return err
	}
	logTo := func(name string) (*os.File, error) { return openLog(s.dir, name) }
	if s.servers, err = lab.StartServers(ctx, s.lab, topology, logTo); err != nil {
		return err
	}
	var endpoints []string
	for _, p := range s.servers {
		endpoints = append(endpoints, p.Endpoint())
	}
	s.workers, err = startWorkers(ctx, s.lab, s.dir, s.plan, endpoints, store)
	return err
}

func (s *stage) startStore(ctx context.Context) (endpoint string, err error) {
	h, err := s.lab.Host(ctx, "store")
	if err != nil {
		return "", err
	}
	logTo, err := openLog(s.dir, "store")
	if err != nil {
		return "", err
	}
	defer logTo.Close()
	p, err := h.Start(ctx, lab.Program{
		Argv: []string{lab.Self, "store", "{addr}:{port}", filepath.Join(s.dir, history.Dir, "store.jsonl")},
		Port: 7000, Ready: lab.Listening, Log: logTo,
	})
	if err != nil {
		return "", err
	}
	return p.Endpoint(), nil
}

// strike injects the fault, waits, heals it, and waits until the lock is granted
// again. A fault that found no victim is part of the history, not an error.
func (s *stage) strike(ctx context.Context, fault lb.Fault) error {
	catching, cancel := context.WithTimeout(ctx, catchBound)
	defer cancel()
	heal, err := fault.Inject(catching, s)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.record(lb.Event{Kind: lb.KindFault, Name: fault.Name(), Phase: "healed", Note: "it did not strike: " + err.Error()})
		return nil
	case heal == nil:
		return nil
	}
	s.record(lb.Event{Kind: lb.KindFault, Name: fault.Name(), Phase: "strike"})
	interrupted := sleep(ctx, faultWindow(s.plan.TTL))
	s.record(lb.Event{Kind: lb.KindFault, Name: fault.Name(), Phase: "heal"})
	healing, cancel := context.WithTimeout(context.WithoutCancel(ctx), healBound)
	defer cancel()
	effect, err := heal(healing)
	if err != nil {
		effect.Measured += "; the heal failed: " + err.Error()
	}
	s.record(lb.Event{Kind: lb.KindFault, Name: fault.Name(), Phase: "healed", Bit: effect.Bit, Note: effect.Measured})
	if err := errors.Join(interrupted, err); err != nil {
		return err
	}
	s.awaitGrant(ctx)
	return nil
}

// awaitGrant returns when some client has got the lock, or after the bound: it
// is for the checkers to say what that means.
func (s *stage) awaitGrant(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, recoveryBound(s.plan.TTL))
	defer cancel()
	_ = s.Passed(ctx, stepHolding, nil)
}

// stepHolding is the step that every workload's holder passes.
const stepHolding = "after-read"

func (s *stage) stopWorkers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopBound)
	defer cancel()
	for _, w := range s.workers {
		if w.alive() {
			_ = w.order(worker.Order{Do: worker.DoStop}) // if it just died, await says so
		}
	}
	var err error
	for _, w := range s.workers {
		if w.doomed.Load() && !w.alive() {
			continue
		}
		if _, e := w.await(ctx, worker.SayDone); e != nil {
			err = errors.Join(err, fmt.Errorf("%w; see %s/%s.log", e, logDir, w.Name()))
		}
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error { return lb.HostClock{}.Sleep(ctx, d) }

func (s *stage) TTL() time.Duration  { return s.plan.TTL }
func (s *stage) Rand() *rand.Rand    { return s.rand }
func (s *stage) Network() lb.Network { return s.lab.Network() }

func (s *stage) Servers() []lb.Process {
	var ps []lb.Process
	for _, p := range s.servers {
		ps = append(ps, p)
	}
	return ps
}

func (s *stage) Passed(ctx context.Context, step string, except lb.Process) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	passed := make(chan error, len(s.workers))
	for _, w := range s.workers {
		if !w.alive() || except != nil && w.Name() == except.Name() {
			continue
		}
		go func() {
			_, err := w.catch(ctx, step, worker.Notice)
			passed <- err
		}()
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
	var alive []*workerProc
	for _, w := range s.workers {
		if w.alive() {
			alive = append(alive, w)
		}
	}
	if len(alive) == 0 {
		return lb.Caught{}, errors.New("run: no worker is left")
	}
	return alive[s.rand.IntN(len(alive))].catch(ctx, step, how)
}
