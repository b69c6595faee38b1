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
		Doc:      "read a counter, work for 5 to 15 ms, now and then for some leases where the lock bears it, write it back plus one",
		Long:     true,
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore},
	}
}

// Open implements [Workload].
func (Counter) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return counterTask{k, b.Long} })
}

type counterTask struct {
	kit
	long *Long
}

// Run implements [Task].
func (t counterTask) Run(ctx context.Context, s Session) error {
	return under(ctx, s, func(working context.Context, held []*lb.Lease) error {
		return t.do(working, section{session: s, leases: held, change: plus(1), last: stepBeforeWrite, long: t.long.next(), over: ctx.Done()})
	}, Ask{})
}
