package zk

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/zksession"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/testkit/mutants"
)

func TestMain(m *testing.M) { mutants.Main(m, allMutants()) }

// TestMutants breaks one step of a correct algorithm, and wants lockbench to see
// it: one line a mutant.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants.Run(t, allMutants())
}

func allMutants() []mutants.Mutant {
	first := func(queue []string, i int) string {
		if i == 0 {
			return ""
		}
		return queue[0]
	}
	const never = time.Hour
	waits := explore.Bounds{Clients: 2, Acquisitions: 1, Polls: 1}
	ended := explore.Bounds{Clients: 2, Acquisitions: 1, Ended: 1, Faults: 1}
	again := ended
	again.Acquisitions = 2
	return []mutants.Mutant{
		mutants.New(trusting("first-node", first, never),
			Sequential(), "none", lb.DoubleGrant, lb.Fence, lb.Broken).ByOrder(explore.Bounds{Clients: 3, Acquisitions: 1}, 60),
		mutants.New(trusting("timed-out", predecessor, 200*time.Millisecond),
			Sequential(), "pause-holder", lb.DoubleGrant, lb.Fence, lb.Broken).ByOrder(waits, 60),
		mutants.New(trusting("no-own-node-check", predecessor, never),
			Sequential(), "pause@after-watch", lb.DoubleGrant, lb.Fence, lb.Broken).ByOrder(ended, 60),
		// The library hears of the end of its session with its next ping only, half a lease later.
		mutants.New(byNumber(), Sequential(), "expire-waiter/0.7ttl", lb.DoubleGrant, lb.Fence, lb.Broken).Leased(8*time.Second).Brisk().ByOrder(again, 400),
		mutants.New(emptyLine(), Sequential(), "expire-line", lb.DoubleGrant, lb.Fence, lb.Broken),
		// The line is empty for long enough that its node is made anew.
		mutants.New(numbered(), Container(), "expire-line", "fenced: ", lb.Safe, lb.Fence, lb.Check),
		mutants.New(mutants.Leaving(Sequential(), "sessions", leaveSession), Sequential(), "none", "sessions at zookeeper1 grew", lb.Safe).Or("connections at w"),
	}
}

// leaveSession looks at the root in a session of its own, which it keeps.
func leaveSession(_ context.Context, server, _ string) error {
	c, _, err := zk.Connect([]string{server}, time.Minute, zk.WithLogInfo(false))
	if err != nil {
		return err
	}
	_, _, err = c.Exists("/")
	return err
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
		return nil, lb.NoEffect(err)
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

// byNumber is zk-sequential that compares its number with those in the queue, and does not
// miss its own node there: Curator looks for it (validateOurIndex). When its session is over
// while it waits, it goes on in another, unless so much time has passed that the node may
// have gone by then. So neither a pause nor a cut can hurt it; but a session also ends when
// an operator closes it, and that takes no time.
func byNumber() lb.Impl {
	a := Sequential().(algorithm)
	a.info.Name += "-by-number"
	a.info.Expect = nil
	a.open = func(c *client) lb.Client {
		return byNumberQueue{&queue{client: c, root: "/by-number", lay: persistent, mode: exclusive}}
	}
	return a
}

type byNumberQueue struct{ *queue }

func (q byNumberQueue) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t, err := q.line(ctx, req, q.pass)
	if err == nil && q.env.Clock.Mono() >= q.env.Validity(t.alive) {
		err = errors.New("zk: the session may have ended during the wait")
	}
	return q.granted(ctx, t, err)
}

// line enters the queue and waits there. When the session is over meanwhile, again says in another one
// whether it is the client's turn.
func (q byNumberQueue) line(ctx context.Context, req lb.Request, again func(context.Context, *ticket, place) error) (*ticket, error) {
	t := &ticket{env: q.env, req: req}
	s, err := q.current(ctx)
	if err != nil {
		return t, err
	}
	t.session = s
	q.held.Put(req.Owner, t)
	p := place{lock: node(q.root, req.Lock), prefix: protectedName(req.Owner, "lock")}
	err = q.enter(ctx, t, p)
	if err == nil {
		err = q.pass(ctx, t, p)
	}
	for err != nil && t.path != "" && gone(t.session) {
		if s, err = q.current(ctx); err != nil {
			break
		}
		t.session = s
		err = again(ctx, t, p)
	}
	return t, err
}

// granted is what comes of a wait that ended with err.
func (q byNumberQueue) granted(ctx context.Context, t *ticket, err error) (*lb.Lease, error) {
	switch {
	case err == nil:
		return t.grant(), nil
	case t.session == nil:
		return nil, lb.NoEffect(err)
	}
	return nil, q.leave(ctx, t.req, err, q.Release)
}

// pass waits until all nodes with lower numbers are gone: none will come after it.
func (q byNumberQueue) pass(ctx context.Context, t *ticket, p place) error {
	names, err := children(ctx, t, p)
	names = slices.DeleteFunc(names, func(name string) bool { return number(name) >= number(t.path) })
	if err != nil {
		return err
	}
	var watched []<-chan zk.Event
	for _, name := range names {
		deleted, err := watchDelete(ctx, t.session, t.req, p.lock+"/"+name)
		if err != nil {
			return err
		}
		if deleted != nil {
			watched = append(watched, deleted)
		}
	}
	for _, deleted := range watched {
		if err := q.await(ctx, t.req, t.session, deleted); err != nil {
			return err
		}
	}
	return nil
}

// emptyLine is zk-sequential that goes on in another session when its own is over while it waits: behind
// the last of the queue, as if its own node still came after it, and an empty queue is its turn.
func emptyLine() lb.Impl {
	a := Sequential().(algorithm)
	a.info.Name += "-empty-line"
	a.info.Expect = nil
	a.open = func(c *client) lb.Client {
		return emptyLineQueue{byNumberQueue{&queue{client: c, root: "/empty-line", lay: persistent, mode: exclusive}}}
	}
	return a
}

type emptyLineQueue struct{ byNumberQueue }

func (q emptyLineQueue) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	t, err := q.line(ctx, req, q.last)
	t.alive = q.env.Clock.Mono()
	return q.granted(ctx, t, err)
}

// last waits until the queue is empty, for whoever is its last at the time.
func (q emptyLineQueue) last(ctx context.Context, t *ticket, p place) error {
	for {
		names, err := children(ctx, t, p)
		if err != nil || len(names) == 0 {
			return err
		}
		last := slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
		deleted, err := watchDelete(ctx, t.session, t.req, p.lock+"/"+last)
		if err == nil && deleted != nil {
			err = q.await(ctx, t.req, t.session, deleted)
		}
		if err != nil {
			return err
		}
	}
}

// numbered is zk-container with the numbers of its nodes for tokens, which begin again with each container.
func numbered() lb.Impl {
	a := Container().(algorithm)
	a.info.Name += "-numbered"
	a.info.Expect = nil
	a.open = func(c *client) lb.Client {
		return numberedQueue{&queue{client: c, root: "/numbered", lay: container, mode: exclusive, before: predecessor}}
	}
	return a
}

type numberedQueue struct{ *queue }

func (q numberedQueue) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := q.queue.Acquire(ctx, req)
	if t, ok := q.held.Get(req.Owner); err == nil && ok {
		lease.Token = uint64(number(t.path)) + 1
	}
	return lease, err
}

func gone(s *zksession.Session) bool {
	select {
	case <-s.Gone():
		return true
	default:
		return false
	}
}
