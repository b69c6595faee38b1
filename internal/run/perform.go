package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/lab"
)

// The runner owns durations. All that depend on the lease are multiples of it.
const (
	startBound  = 90 * time.Second // for the lab and the sessions; containers take their time, too, where others start
	serverBound = 10 * time.Second // more for each server: an ensemble of JVMs, beside others, takes its time
	warmUp      = 300 * time.Millisecond
	injectBound = 20 * time.Second // for a client to come to a fault's step, and for servers to follow
	gatherBound = 8 * time.Second  // for all clients to come to a step
	healBound   = 30 * time.Second
	endBound    = 2 * answerBound        // for a fault to end when its time is over; it may take a trap back first
	settle      = 500 * time.Millisecond // of work after the fault is over
	stopBound   = 10 * time.Second
)

// recoveryBound is how long after the heal the lock may stay ungranted before
// it counts as stuck; more than the checkers want to see, who do not count the time in
// which a busy machine let nobody ask.
func recoveryBound(ttl time.Duration) time.Duration {
	return checker.StuckAfter(ttl) + 2*time.Second
}

// Perform does the run that dir's plan describes, inside the lab, as the program that
// [Watched] starts.
func Perform(ctx context.Context, dir string, c catalog.Catalog) error {
	syscall.CloseOnExec(Phases) // the servers have nothing to say there
	phases := os.NewFile(Phases, "phases")
	defer phases.Close()
	r, err := rundir.OpenRun(dir)
	if err != nil {
		return err
	}
	if c, err = c.With(r.Plan.Exec); err != nil {
		return err
	}
	setting, err := c.Setting(r.Plan)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	fault, err := c.Fault(r.Plan.Fault)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	rec, err := history.Create(r.EventsFile(rundir.Runner))
	if err != nil {
		return err
	}
	l, err := setting.Lab.Open(ctx)
	if err != nil {
		return errors.Join(err, rec.Close())
	}
	fault = fault.In(setting)
	s := &stage{
		plan: r.Plan, catalog: c, dir: r, lab: l, setting: setting,
		tell:   teller(phases),
		record: rec.Record,
	}
	err = s.play(ctx, fault)
	return errors.Join(err, s.tellClocks(), l.Close(), rec.Close())
}

func (s *stage) play(ctx context.Context, fault faults.Fault) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	s.workers.blame = func(what string) { // the run is over: nothing more can be believed
		s.blamed.Do(func() {
			if err := s.dir.Blame(what); err != nil {
				slog.Warn("what the program did wrong is not kept", "what", what, "error", err)
			}
			end()
		})
	}
	if err := s.setUp(ctx, fault); err != nil {
		return err
	}
	s.tell("at work: " + english.Count(s.plan.Clients, "client"))
	start := clock.Now()
	for _, w := range s.workers.list() {
		if _, _, err := w.instruct(worker.Instruction{Do: worker.DoStart}); err != nil {
			return err
		}
	}
	if err := s.perform(ctx, fault, start); err != nil {
		return errors.Join(err, s.stopWorkers(ctx))
	}
	s.tell("the clients stop")
	asked := clock.Now()
	s.countLast(ctx)
	// Without the end, what was recorded is not the whole run.
	err := errors.Join(s.stopWorkers(ctx), s.stopStore(ctx))
	if err == nil {
		s.record(history.Event{At: asked, Kind: history.KindEnd})
	}
	return err
}

// perform is what happens while the clients work.
func (s *stage) perform(ctx context.Context, fault faults.Fault, start lb.Instant) error {
	if err := sleep(ctx, warmUp); err != nil {
		return err
	}
	s.countFirst(ctx)
	// The first violation ends the run, but not the fault that is in force: what it was
	// measured by must not be missing.
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	if s.plan.First && !s.plan.Traits.Semaphore() { // of that, who is one too many is seen at the end
		go s.watch(waiting, stop)
	}
	over := func() bool {
		return waiting.Err() != nil || fault.Repeats && clock.Now().Sub(start) >= s.plan.Duration
	}
	if err := s.strikes(ctx, fault, over); err != nil {
		return err
	}
	if err := sleep(waiting, max(s.plan.Duration-clock.Now().Sub(start), settle)); err != nil {
		return ctx.Err()
	}
	return s.showEnough(ctx)
}

// showEnough lets a run go on that has shown little, on a machine that is busy, until
// it has shown enough, or nothing more comes.
func (s *stage) showEnough(ctx context.Context) error {
	const (
		enough = 30 // sections
		bound  = 10 * time.Second
		look   = 500 * time.Millisecond
	)
	before := -1
	for waited := time.Duration(0); waited < bound; waited += look {
		n := 0
		for _, w := range s.workers.alive() {
			r, err := w.ask(ctx, worker.Instruction{Do: worker.DoCount})
			if err != nil && w.alive() {
				return err
			}
			n += r.Sections
		}
		if n >= enough || n == before && waited > bound/4 {
			return nil
		}
		before = n
		if err := sleep(ctx, look); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) setUp(ctx context.Context, fault faults.Fault) error {
	ctx, cancel := context.WithTimeout(ctx, startBound+time.Duration(s.setting.Topology.Servers)*serverBound)
	defer cancel()
	s.tell("the servers start: " + s.plan.Topology)
	if err := s.startStore(ctx); err != nil {
		return err
	}
	var err error
	s.service, err = lab.StartService(ctx, s.lab, s.setting.Topology, lab.Options{
		Log:     func(name string) (*os.File, error) { return s.dir.OpenLog(name) },
		Longest: s.plan.TTL,
		Stalls:  fault.StallsDisks(),
		Clocks:  fault.MovesServerClocks(s.setting),
	})
	if err != nil {
		return err
	}
	s.tell(fmt.Sprintf("%d worker processes start", s.plan.Processes))
	if ahead := time.Duration(fault.StartsAhead * float64(s.plan.TTL)); ahead != 0 {
		s.skewed = skewed{ahead, clock.Now()}
	}
	made := func(lab.Host) error { return nil }
	if fault.Overhears() {
		s.taps, made = map[lab.Host]*tapped{}, s.listen
	}
	workers, err := startWorkers(ctx, s.lab, s.dir, s.service, s.store.Endpoint(), s.skewed.ahead, fault.SharedSession, made, s.workers.blame)
	s.workers.join(workers...)
	return err
}

func (s *stage) startStore(ctx context.Context) error {
	database, err := s.startDatabase(ctx)
	if err != nil {
		return err
	}
	h, err := s.lab.Host(ctx, "store", "")
	if err != nil {
		return err
	}
	logTo, err := s.dir.OpenLog("store")
	if err != nil {
		return err
	}
	defer logTo.Close()
	s.store, err = h.Start(ctx, lab.Program{
		Argv: append([]string{lab.Self, "store", "{addr}:{port}"}, database...),
		// Told apart: in a path of the user's these words would stand for nothing.
		Stdin: strings.NewReader(s.dir.EventsFile(rundir.Store)),
		Sees:  []string{filepath.Dir(s.dir.EventsFile(rundir.Store))},
		Port:  7000, Ready: lab.Listening, Log: logTo,
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
			return fmt.Errorf("the store: %w; see %s", err, s.dir.LogFile("store"))
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the store does not end: %w", ctx.Err())
	}
}

// stopWorkers waits for what clients may have to do yet: to end a section, to give back what they asked for, which may take
// a lease where a server is silent, and to close, which may take another.
func (s *stage) stopWorkers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopBound+3*s.plan.TTL)
	defer cancel()
	for _, w := range s.workers.list() {
		if w.alive() {
			_, _, _ = w.instruct(worker.Instruction{Do: worker.DoStop}) // if it just died, await says so
		}
	}
	var err error
	for _, w := range s.workers.list() {
		if w.doomed.Load() {
			continue
		}
		if _, e := w.await(ctx, w.own(), "stop"); e != nil {
			err = errors.Join(err, fmt.Errorf("%w; see %s", e, s.dir.LogFile(w.Name())))
		}
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error { return lb.HostClock{}.Sleep(ctx, d) }
