package workloads

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// Counter is the read, work, write of a counter under the lock: the smallest
// critical section that a second holder can spoil. Every update that vanishes
// is one that the lock should have kept.
type Counter struct{}

// Info implements [Workload].
func (Counter) Info() Info {
	return Info{
		Name:     "counter",
		Doc:      "read a counter, work for 5 to 15 ms, write it back plus one",
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore},
	}
}

// Open implements [Workload].
func (Counter) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return counterTask{k} })
}

type counterTask struct{ kit }

// Run implements [Task].
func (t counterTask) Run(ctx context.Context, s Session) error {
	return under(ctx, s, func(ctx context.Context, held []*lb.Lease) error {
		return t.do(ctx, section{leases: held, change: plus(1), last: stepBeforeWrite})
	}, Ask{})
}
