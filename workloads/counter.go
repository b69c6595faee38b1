package workloads

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// Counter is the read, work, write of a counter under the lock: the smallest
// critical section that a second holder can spoil. Every update that vanishes
// is one that the lock should have kept.
type Counter struct {
	// CAS has the store compare, as a version column on the data itself does: it takes a write only
	// while it holds what the writer has read, and whoever it refuses reads again. Then it needs no lock.
	CAS bool
}

// Info implements [Workload].
func (c Counter) Info() Info {
	i := Info{
		Name:     "counter",
		Doc:      "read a counter, work for 5 to 15 ms, now and then for some leases where the lock bears it, write it back plus one",
		Long:     true,
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore},
	}
	if c.CAS {
		i.Name, i.Guarded, i.Decides, i.Long = "counter-cas", true, true, false
		i.Doc = "the same, and the store takes a write only while it holds what was read, as a version column does, which needs no lock"
		i.Expect = []lb.Expectation{{Fault: "*", Outcomes: []lb.Outcome{lb.Safe},
			Why: "the store compares, and takes no write on top of another: the lock only saves work"}}
	}
	return i
}

// Open implements [Workload].
func (c Counter) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return counterTask{k, b.Long, c.CAS} })
}

type counterTask struct {
	kit
	long *Long
	cas  bool
}

// Run implements [Task].
func (t counterTask) Run(ctx context.Context, s Session) error {
	return under(ctx, s, func(working context.Context, held []*lb.Lease) error {
		update := section{session: s, leases: held, change: plus(1), same: t.cas, last: stepBeforeWrite, long: t.long.next(), over: ctx.Done()}
		err := t.do(working, update)
		for errors.Is(err, errStale) && ctx.Err() == nil {
			err = t.do(working, update)
		}
		if errors.Is(err, errStale) {
			return nil // the run is over, and nothing was written
		}
		return err
	}, Ask{})
}
