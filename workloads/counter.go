package workloads

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Counter is the read, work, write of a counter under the lock: the smallest
// critical section that a second holder can spoil. Every update that vanishes
// is one that the lock should have kept.
type Counter struct{}

// The steps of a section. At the last one lies the moment that no client can
// guard: it has looked at its lease and is about to write.
const (
	stepRead        = "after-read"   // the work begins
	stepWork        = "work"         // it is nearly done, and the lease has not been looked at yet
	stepBeforeWrite = "before-write" // the lease has been looked at
)

// The work takes a random time in [minWork, minWork+workSpread).
const (
	minWork    = 5 * time.Millisecond
	workSpread = 10 * time.Millisecond
)

// Info implements [lockbench.Workload].
func (Counter) Info() lb.WorkloadInfo {
	return lb.WorkloadInfo{
		Name:  "counter",
		Doc:   "read a counter, work for 5 to 15 ms, write it back plus one",
		Steps: []string{stepRead, stepWork, stepBeforeWrite},
	}
}

// Open implements [lockbench.Workload].
func (Counter) Open(ctx context.Context, env *lb.Env, store string) (lb.Task, error) {
	c, err := dialStore(ctx, store)
	if err != nil {
		return nil, err
	}
	return &counterTask{env, c}, nil
}

type counterTask struct {
	env *lb.Env
	*storeClient
}

// Do implements [lockbench.Task].
func (t *counterTask) Do(ctx context.Context, lease *lb.Lease) error {
	req := lease.Request
	a := access{Client: t.env.Client, Lock: req.Lock, ID: req.Owner, Token: lease.Token}
	base, err := t.do(a)
	if err != nil {
		return err
	}
	if err := t.env.Step(ctx, stepRead, req); err != nil {
		return err
	}
	work := minWork + time.Duration(t.env.Rand.Int64N(int64(workSpread)))
	if err := t.env.Clock.Sleep(ctx, work); err != nil {
		return err
	}
	if err := t.env.Step(ctx, stepWork, req); err != nil {
		return err
	}
	held := lease.Valid()
	if err := t.env.Step(ctx, stepBeforeWrite, req); err != nil {
		return err
	}
	a.Write, a.Base, a.Held = true, base, held
	_, err = t.do(a)
	return err
}
