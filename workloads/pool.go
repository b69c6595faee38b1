package workloads

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// Pool is what a semaphore is for: a few places, which so many may use at once as there are permits. Who has one reads and
// writes back what is there as it is, so that nobody's work is lost to anybody's; what the store knows is who was at work
// at the same time.
type Pool struct{}

// Info implements [Workload].
func (Pool) Info() Info {
	return Info{
		Name:     "pool",
		Doc:      "use one of as many places as a semaphore has permits for 5 to 15 ms, now and then for some leases where the lock bears it; no more may be at work at once",
		Needs:    lb.Traits{Permits: 2},
		Long:     true,
		Steps:    sectionSteps,
		Evidence: []string{checker.LayerStore},
	}
}

// Open implements [Workload].
func (Pool) Open(ctx context.Context, b Bench) (Task, error) {
	return open(ctx, b, func(k kit) Task { return poolTask{k, b.Long} })
}

type poolTask struct {
	kit
	long *Long
}

// Run implements [Task].
func (t poolTask) Run(ctx context.Context, s Session) error {
	return under(ctx, s, func(working context.Context, held []*lb.Lease) error {
		return t.do(working, section{session: s, leases: held, change: plus(0), last: stepBeforeWrite, long: t.long.next(), over: ctx.Done()})
	}, Ask{})
}
