package zk

import (
	"context"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/internal/mutants"
)

func TestMain(m *testing.M) { mutants.Main(m, allMutants()) }

// TestMutants breaks one step of a correct algorithm, and wants lockbench to see
// it: one line a mutant.
func TestMutants(t *testing.T) { mutants.Run(t, allMutants()) }

func allMutants() []mutants.Mutant {
	first := func(queue []string, i int) string {
		if i == 0 {
			return ""
		}
		return queue[0]
	}
	const never = time.Hour
	return []mutants.Mutant{
		mutants.New(trusting("first-node", first, never),
			Sequential(), "none", lb.DoubleGrant, lb.Fence, lb.Broken),
		mutants.New(trusting("timed-out", predecessor, 200*time.Millisecond),
			Sequential(), "pause-holder", lb.DoubleGrant, lb.Fence, lb.Broken),
		mutants.New(trusting("no-own-node-check", predecessor, never),
			Sequential(), "pause@after-watch", lb.DoubleGrant, lb.Fence, lb.Broken),
	}
}

// trusting is zk-sequential that believes in its grant when its wait is over, for
// whatever reason: it reads the queue once and never looks for its own node again.
func trusting(how string, before func([]string, int) string, patience time.Duration) lb.Impl {
	a := Sequential().(algorithm)
	a.info.Name += "-" + how
	a.info.Expect = nil
	a.open = func(c *client) lb.Client {
		return trustingQueue{&queue{client: c, root: "/trusting", lay: persistent, mode: exclusive, before: before}, patience}
	}
	return a
}

type trustingQueue struct {
	*queue
	patience time.Duration
}

func (q trustingQueue) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	s, err := q.current(ctx)
	if err != nil {
		return nil, compose.NoEffect(err)
	}
	t := &ticket{env: q.env, req: req, session: s}
	q.held.Put(req.Owner, t)
	if err := q.once(ctx, req, t); err != nil {
		return nil, q.leave(ctx, req, err, q.Release)
	}
	t.alive = q.env.Clock.Mono()
	return t.grant(), nil
}

func (q trustingQueue) once(ctx context.Context, req lb.Request, t *ticket) error {
	p := place{lock: node(q.root, req.Lock), prefix: protectedName(req.Owner, "lock")}
	if err := q.enter(ctx, t, p); err != nil {
		return err
	}
	ahead, err := q.ahead(ctx, t, p)
	if err != nil || ahead == "" {
		return err
	}
	deleted, err := watchDelete(ctx, t.session, req, p.lock+"/"+ahead)
	if err != nil || deleted == nil {
		return err
	}
	waiting, cancel := q.env.WithTimeout(ctx, q.patience)
	defer cancel()
	_ = q.await(waiting, req, t.session, deleted)
	return ctx.Err()
}
