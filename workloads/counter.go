package workloads

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// Counter is the read, work, write of a counter under the lock: the smallest
// critical section that a second holder can spoil. Every update that vanishes
// is one that the lock should have kept.
type Counter struct{}

// stepBeforeWrite is the moment that no client can guard: it has looked at its lease
// and is about to write. At [StepWork] the lease has not been looked at yet.
const stepBeforeWrite = "before-write"

// The work takes a random time in [minWork, minWork+workSpread).
const (
	minWork    = 5 * time.Millisecond
	workSpread = 10 * time.Millisecond
)

// Info implements [Workload].
func (Counter) Info() Info {
	return Info{
		Name:     "counter",
		Doc:      "read a counter, work for 5 to 15 ms, write it back plus one",
		Steps:    []string{StepBegun, StepWork, stepBeforeWrite},
		Evidence: []string{checker.LayerStore},
	}
}

// Open implements [Workload].
func (Counter) Open(ctx context.Context, b Bench) (Task, error) {
	c, err := dialStore(ctx, b.Store)
	if err != nil {
		return nil, err
	}
	return &counterTask{b.Env, c}, nil
}

type counterTask struct {
	env *lb.Env
	*storeClient
}

// Run implements [Task].
func (t *counterTask) Run(ctx context.Context, s Session) error {
	lease, err := s.Acquire(ctx, Ask{})
	if err != nil {
		return err
	}
	// The work is not cut short by the end of the run, only the next one is not
	// begun: half a section would look like a lost update.
	ctx = context.WithoutCancel(ctx)
	err, notReleased := t.section(ctx, lease), s.Release(ctx, lease)
	if err != nil {
		return err
	}
	return notReleased
}

func (t *counterTask) section(ctx context.Context, lease *lb.Lease) error {
	req := lease.Request
	a := access{Client: t.env.Client, Lock: req.Lock, ID: req.Owner, Token: lease.Token}
	base, err := t.do(a)
	if err != nil {
		return err
	}
	if err := t.env.Step(ctx, req, StepBegun); err != nil {
		return err
	}
	work := minWork + time.Duration(t.env.Rand.Int64N(int64(workSpread)))
	if err := t.env.Clock.Sleep(ctx, work); err != nil {
		return err
	}
	if err := t.env.Step(ctx, req, StepWork); err != nil {
		return err
	}
	held := lease.Valid()
	if err := t.env.Step(ctx, req, stepBeforeWrite); err != nil {
		return err
	}
	a.Write, a.Base, a.Held = true, base, held
	_, err = t.do(a)
	return err
}
