package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/lab"
)

// A worker whose clock is not the runner's is asked what time it is, again and again, by the
// same way on which it gets its instructions. It may be on another machine: nothing else is asked of that.

const (
	// compareEvery is how often: between two answers the clocks may run apart, and the fewer
	// there are, the less luck has the shortest trip.
	compareEvery = 50 * time.Millisecond
	// compareFirst is how often before it begins to work.
	compareFirst = 8
)

// compared is what is known of a worker's clock.
type compared struct {
	clock.Bounds
	over chan struct{} // closed when nobody asks any more
}

func newCompared() *compared { return &compared{over: make(chan struct{})} }

// apart is how the clock of the nth worker's host differs in a plan whose clocks are apart: how far it is
// ahead, and by which share its recorder drifts. Two machines have both without anybody's doing.
func apart(seed uint64, n int) (ahead time.Duration, drift float64) {
	const most, fast = time.Hour, 200e-6
	ahead = time.Duration(rand.New(rand.NewPCG(seed, uint64(n))).Int64N(int64(most)))
	if n%2 == 0 {
		return ahead, fast
	}
	return ahead, -fast
}

// TrueClock is how the clock of a recorder of such a run really differs, to be compared with what was measured;
// known is whether it has one of its own.
func TrueClock(p history.Plan, recorder string) (l clock.Line, known bool) {
	host, _, _ := strings.Cut(recorder, "-") // of another life, too
	for n := range p.Processes {
		if p.Clocks == history.Apart && rundir.Worker(n+1) == host {
			ahead, drift := apart(p.Seed, n)
			return clock.Line{Offset: -ahead, PPB: int64(math.Round(-drift / (1 + drift) * 1e9)), To: 1 << 62}, true
		}
	}
	return l, false
}

// setAhead gives a host a clock of its own.
func setAhead(h lab.Host, ahead time.Duration) error {
	timed, ok := h.(lab.Timed)
	if !ok {
		return fmt.Errorf("%s can't have a clock of its own", h.Name())
	}
	return timed.OwnClock(ahead)
}

// once compares the clocks by one round trip.
func (w *workerProc) once(ctx context.Context) error {
	sent := clock.Now()
	r, err := w.ask(ctx, worker.Instruction{Do: worker.DoTime})
	if err != nil {
		return err
	}
	w.clock.Add(sent, r.Came, r.At, clock.Now())
	return nil
}

// compare compares the clocks of a worker that is ready, from now on until it ends. Whoever follows its file
// can read that when this returns.
func (w *workerProc) compare(ctx context.Context) error {
	if w.clock == nil {
		return nil
	}
	for range compareFirst {
		if err := w.once(ctx); err != nil {
			return err
		}
	}
	if err := w.tellClock(); err != nil {
		return err
	}
	go func() {
		defer close(w.clock.over)
		ctx := context.WithoutCancel(ctx)
		for w.once(ctx) == nil { // a frozen one answers when it goes on
			_ = sleep(ctx, compareEvery)
		}
	}()
	return nil
}

// tellClock writes into the worker's file what is known of its clock. Of one that contradicts itself that is nothing,
// also where its file said more before.
func (w *workerProc) tellClock() error {
	l, err := w.clock.Line()
	if err != nil {
		err = errors.Join(err, history.SetClock(w.cfg.Events, w.cfg.Name, nil))
	} else {
		err = history.SetClock(w.cfg.Events, w.cfg.Name, &l)
	}
	if err != nil {
		return fmt.Errorf("compare the clock of %s: %w", w.Name(), err)
	}
	return nil
}

// tellClocks does so of all, when they have ended.
func (s *stage) tellClocks() (err error) {
	for _, w := range s.workers.list() {
		if w.clock == nil || !w.clock.Known() { // then it was never ready
			continue
		}
		select {
		case <-w.clock.over:
		case <-time.After(time.Second): // the lab is about to end it
		}
		err = errors.Join(err, w.tellClock())
	}
	return err
}

// reference is the earliest that a time of the worker's may have been by this process's clock.
func (w *workerProc) reference(t lb.Instant) lb.Instant {
	if w.clock == nil || t == 0 {
		return t
	}
	return w.clock.Earliest(t)
}
