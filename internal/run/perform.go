package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/worker"
)

// The runner owns durations. All that depend on the lease are multiples of it.
const (
	startBound  = 30 * time.Second // for the lab, the servers and the sessions
	warmUp      = 300 * time.Millisecond
	injectBound = 20 * time.Second // for a client to come to a fault's step, and for servers to follow
	healBound   = 15 * time.Second
	settle      = 500 * time.Millisecond // of work after the fault is over
	stopBound   = 10 * time.Second
)

// faultWindow is how long a fault lasts: long enough for a lease to end on the
// server, who may look for ended leases only twice a second, and for others to
// take the lock.
func faultWindow(ttl time.Duration) time.Duration { return ttl * 5 / 2 }

// recoveryBound is how long after the heal the lock may stay ungranted before
// it counts as stuck; half a second more than the checkers want to see.
func recoveryBound(ttl time.Duration) time.Duration {
	return checker.StuckAfter(ttl) + 500*time.Millisecond
}

// Perform does the run that dir's plan describes, inside the lab. The functions
// find an algorithm and a workload by name.
func Perform(ctx context.Context, dir string, impls func(string) (lb.Impl, error), workloads func(string) (lb.Workload, error)) error {
	r, err := rundir.OpenRun(dir)
	if err != nil {
		return err
	}
	plan := r.Plan
	impl, err := impls(plan.Algorithm)
	if err != nil {
		return err
	}
	work, err := workloads(plan.Workload)
	if err != nil {
		return err
	}
	fault, ok := faults.Find(plan.Fault)
	if !ok {
		return fmt.Errorf("run: %s: unknown fault %q", dir, plan.Fault)
	}
	rec, err := history.Create(r.EventsFile(rundir.Runner))
	if err != nil {
		return err
	}
	l, err := openLab(ctx, r)
	if err != nil {
		return errors.Join(err, rec.Close())
	}
	_, clocks := fault.(lb.ServerClockFault)
	s := &stage{
		plan: plan, dir: r, lab: l, clocks: clocks, setting: Setting(plan, impl.Info(), work.Info()),
		record: rec.Record, rand: rand.New(rand.NewPCG(plan.Seed, 0)),
	}
	err = s.play(ctx, fault)
	return errors.Join(err, l.Close(), rec.Close())
}

func openLab(ctx context.Context, r *rundir.Run) (lab.Lab, error) {
	switch r.Plan.Lab {
	case LabLocal:
		return lab.OpenLocal()
	case LabDocker:
		return docker.Open(ctx, r.LogsDir())
	}
	return nil, fmt.Errorf("run: unknown lab %q", r.Plan.Lab)
}

// stage is the run in progress. It implements [lockbench.Stage].
type stage struct {
	plan    lb.Plan
	dir     *rundir.Run
	lab     lab.Lab
	setting lb.Setting
	clocks  bool // servers get a clock that can be moved
	record  func(lb.Event)
	rand    *rand.Rand
	store   lab.Process
	service *lab.Service
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
	acting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if s.plan.First {
		go s.watch(acting, func() { stop(errFirst) })
	}
	err := s.act(acting, fault, start)
	if errors.Is(context.Cause(acting), errFirst) || errors.Is(err, errUnhealed) {
		err = nil
	}
	if err != nil { // no end: what was recorded is not the whole run
		return errors.Join(err, s.stopWorkers(ctx))
	}
	s.record(lb.Event{Kind: lb.KindEnd})
	return errors.Join(s.stopWorkers(ctx), s.stopStore(ctx))
}

// act is what happens while the clients work.
func (s *stage) act(ctx context.Context, fault lb.Fault, start lb.Instant) error {
	if err := sleep(ctx, warmUp); err != nil {
		return err
	}
	err := s.strike(ctx, fault)
	if errors.Is(err, errUnhealed) {
		return err
	}
	if _, again := fault.(lb.RepeatedFault); again {
		for err == nil && lb.Now().Sub(start) < s.plan.Duration {
			err = s.strike(ctx, fault)
		}
	}
	return errors.Join(err, sleep(ctx, max(s.plan.Duration-lb.Now().Sub(start), settle)))
}

func (s *stage) setUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	topology, ok := lab.FindTopology(s.plan.Topology)
	if !ok {
		return fmt.Errorf("run: unknown topology %q", s.plan.Topology)
	}
	if err := s.startStore(ctx); err != nil {
		return err
	}
	var err error
	s.service, err = lab.StartService(ctx, s.lab, topology, lab.Options{
		Log:     func(name string) (*os.File, error) { return s.dir.OpenLog(name) },
		Longest: s.plan.TTL,
		Clocks:  s.clocks,
	})
	if err != nil {
		return err
	}
	s.workers, err = startWorkers(ctx, s.lab, s.dir, s.service, s.store.Endpoint())
	return err
}

func (s *stage) startStore(ctx context.Context) error {
	h, err := s.lab.Host(ctx, "store")
	if err != nil {
		return err
	}
	logTo, err := s.dir.OpenLog("store")
	if err != nil {
		return err
	}
	defer logTo.Close()
	s.store, err = h.Start(ctx, lab.Program{
		Argv: []string{lab.Self, "store", "{addr}:{port}", s.dir.EventsFile(rundir.Store)},
		Port: 7000, Ready: lab.Listening, Log: logTo,
	})
	return err
}

// stopStore lets the store close its record. Killed with the lab, it would leave a
// file that looks as if it had been torn.
func (s *stage) stopStore(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopBound)
	defer cancel()
	if err := s.store.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.store.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("run: the store: %w; see %s", err, s.dir.LogFile("store"))
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("run: the store does not end: %w", ctx.Err())
	}
}

// errUnhealed ends a run whose fault could not be healed: what was found until then
// is judged, but that nobody gets the lock afterwards would prove nothing.
var errUnhealed = errors.New("the fault could not be healed")

// strike injects the fault, waits, heals it, and waits until the lock is granted
// again. A fault that found no victim is part of the history, not an error.
func (s *stage) strike(ctx context.Context, fault lb.Fault) error {
	catching, cancel := context.WithTimeout(ctx, injectBound)
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
	window := faultWindow(s.plan.TTL)
	if lasting, ok := fault.(lb.LastingFault); ok {
		window = lasting.Lasts(s.plan.TTL)
	}
	interrupted := sleep(ctx, window)
	s.record(lb.Event{Kind: lb.KindFault, Name: fault.Name(), Phase: "heal"})
	healing, cancel := context.WithTimeout(context.WithoutCancel(ctx), healBound)
	defer cancel()
	effect, err := heal(healing)
	if err != nil {
		effect = lb.Effect{Measured: effect.Measured + "; the heal failed: " + err.Error()}
	}
	s.record(lb.Event{Kind: lb.KindFault, Name: fault.Name(), Phase: "healed", Bit: effect.Bit, Note: effect.Measured})
	switch {
	case interrupted != nil:
		return interrupted
	case err != nil:
		return errUnhealed
	}
	s.awaitGrants(ctx)
	return nil
}

// awaitGrants returns when clients have got the lock a few times, or after the
// bound: it is for the checkers to say what that means.
func (s *stage) awaitGrants(ctx context.Context) {
	const few = 12
	ctx, cancel := context.WithTimeout(ctx, recoveryBound(s.plan.TTL))
	defer cancel()
	for range few {
		if s.Passed(ctx, stepHolding, nil) != nil {
			return
		}
	}
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
			err = errors.Join(err, fmt.Errorf("%w; see %s", e, s.dir.LogFile(w.Name())))
		}
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error { return lb.HostClock{}.Sleep(ctx, d) }
