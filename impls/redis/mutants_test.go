package redis

import (
	"context"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/testkit/mutants"
	"github.com/redis/go-redis/v9"
)

func TestMain(m *testing.M) { mutants.Main(m, allMutants()) }

// TestMutants breaks one step of a correct algorithm, and wants lockbench to see
// it: one line a mutant.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants.Run(t, allMutants())
}

func allMutants() []mutants.Mutant {
	nothing := explore.Bounds{Clients: 2, Acquisitions: 1, Polls: 1}
	expiry, crash, lost := nothing, nothing, nothing
	expiry.Expiries, expiry.Faults = 1, 1
	crash.Crashes, crash.Faults = 1, 1
	lost.Acquisitions, lost.Lost, lost.Faults = 2, 1, 1
	return []mutants.Mutant{
		mutants.New(mutate(Fenced(), "release-any", func(s session) lb.Client { return releaseAny{fenced{s}} }),
			Fenced(), "pause-holder", lb.DoubleGrant, lb.Fence, lb.Broken).ByOrder(expiry, 100),
		mutants.New(mutate(SetPXLua(), "no-nx", func(s session) lb.Client { return noNX{setPXLua{s}} }),
			SetPXLua(), "none", lb.DoubleGrant, lb.Broken).ByOrder(nothing, 100),
		mutants.New(mutate(Fenced(), "release-before-write", func(s session) lb.Client { return early{fenced{s}} }),
			Fenced(), "none", lb.DoubleGrant, lb.Fence, lb.Broken).ByOrder(nothing, 100),
		mutants.New(mutate(Fenced(), "same-token", func(s session) lb.Client { return sameToken{fenced{s}} }),
			Fenced(), "pause@before-write", "the fencing tokens can't be trusted", lb.Broken),
		mutants.New(mutate(Watchdog(), "outlives-lock", func(s session) lb.Client {
			return &immortal{watchdog{renewed{listener: listener{session: s}}}}
		}), Watchdog(), "kill-holder", lb.Ghost, lb.Stuck).ByOrder(crash, 60),
		mutants.New(SetPXDel(), SetPXLua(), "release-twice", lb.DoubleGrant, lb.Broken),
		mutants.New(mutate(SetPXLua(), "owner-is-the-name", func(s session) lb.Client { return byName{setPXLua{s}} }),
			SetPXLua(), "twin-holder", lb.DoubleGrant, lb.Broken),
		mutants.New(Reentrant(), SetPXLua(), "shared-session", lb.DoubleGrant, lb.Broken),
		mutants.New(redlockWith("minority", redlockTry{enough: 2, looks: true, cleans: true}),
			redlockWith("", redlockTry{enough: 3, looks: true, cleans: true}), "none", lb.DoubleGrant, lb.Broken),
		mutants.New(redlockWith("no-elapsed", redlockTry{enough: 3, cleans: true}),
			redlockWith("", redlockTry{enough: 3, looks: true, cleans: true}), "pause@after-majority", lb.DoubleGrant, lb.Broken),
		mutants.New(redlockWith("no-clean-up", redlockTry{enough: 3, looks: true}),
			redlockWith("", redlockTry{enough: 3, looks: true, cleans: true}), "none", mutants.Outage, lb.Safe, lb.Inconclusive).InCrowd(24),
		mutants.New(patient("from-answer", func(s session) lb.Client { return fromAnswer{setPXLua{s}} }),
			patient("patient", func(s session) lb.Client { return setPXLua{s} }), "late-grant", lb.DoubleGrant, lb.Broken).ByOrder(expiry, 150),
		mutants.New(alone(alsoSends("del", mutate(SetPXLua(), "insists", func(s session) lb.Client { return &insistent{setPXLua: setPXLua{s}} }))),
			// Whose key is deleted is told of it, or another is granted first.
			SetPXLua(), list("lose-reply/0.15ttl", 4), lb.DoubleGrant, lb.Fence, lb.Broken).Or(lb.VanishedGrant).ByOrder(lost, 200),
		mutants.New(loading("swallows", true), loading("loads", false), "script-flush", lb.Ghost, lb.Stuck),
		mutants.New(mutants.Leaving(SetPXLua(), "keys", leaveKey), SetPXLua(), "none", "keys at redis1 grew", lb.Safe),
		// Few, of whom each soon has more connections than all of them may keep.
		mutants.New(mutants.Leaving(SetPXLua(), "connections", leaveConnection), SetPXLua(), "none", "connections at w", lb.Safe).Or("goroutines at w").InCrowd(3),
		mutants.New(forgetful(), Fair(), "none", "had no answer by the end", lb.Safe).InCrowd(4),
		mutants.New(unbounded("gives-up", true), unbounded("goes-on", false), "lose-reply@before-renew/0.4ttl", lb.DoubleGrant, lb.Broken),
		mutants.New(queueOfNumbers("forgotten", false), queueOfNumbers("kept", true), "none", lb.DoubleGrant, lb.Broken),
		mutants.New(alone(mutate(SetPXLua(), "whole-seconds", func(s session) lb.Client { return wholeLease{setPXLua{s}} })),
			SetPXLua(), "pause-holder", lb.DoubleGrant, lb.Broken),
		mutants.New(alone(mutate(SetPXLua(), "rounds-up", func(s session) lb.Client { return roundedLease{setPXLua{s}} })),
			SetPXLua(), "pause-holder", lb.DoubleGrant, lb.Broken),
		mutants.New(SetPXGetDel(), looksThenCompares(), "pause@before-del", lb.DoubleGrant, lb.Broken),
		mutants.New(countsDown(), Reentrant(), list("lose-reply/0.15ttl", 4), lb.DoubleGrant, lb.Broken).Or(lb.VanishedGrant).Doing("reentrant"),
		mutants.New(asked("remembers", remembers), asked("asks", asks), "pause-holder", lb.Overstay, lb.Broken),
		mutants.New(looking(), Semaphore(3), "none", lb.DoubleGrant, lb.Broken),
		mutants.New(setBy("pcall", "pcall"), setBy("call", "call"), "out-of-memory", lb.DoubleGrant, lb.Broken),
	}
}

// list is a fault that strikes so many times, one after the other.
func list(fault string, times int) string {
	return strings.TrimSuffix(strings.Repeat(fault+",", times), ",")
}

// mutate is an algorithm with another client.
func mutate(of lb.Impl, how string, open func(session) lb.Client) lb.Impl {
	a := of.(algorithm)
	a.info.Name += "-" + how
	a.info.Expect = nil
	a.open = open
	return a
}

// alsoSends is an algorithm with one more request.
func alsoSends(request string, of lb.Impl) lb.Impl {
	a := of.(algorithm)
	a.info.Requests = append(slices.Clone(a.info.Requests), request)
	return a
}

// releaseAny deletes whoever's lock it is.
type releaseAny struct{ fenced }

func (c releaseAny) Release(ctx context.Context, req lb.Request) error {
	return c.session.releaseAny(ctx, req)
}

// byName takes what was granted to its name for its own.
type byName struct{ setPXLua }

var setOrMine = redis.NewScript(`if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) or redis.call("get", KEYS[1]) == ARGV[1] then return 1 end return 0`)

func (c byName) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		sent, err := c.run(ctx, c.rdb, req, "set", script{setOrMine, []string{req.Lock}, []any{c.env.Client, c.env.TTL.Milliseconds()}},
			func(n int64) error { return taken(n == 1) })
		if err != nil {
			return nil, lb.Unsent(err)
		}
		return c.env.Grant(req, 0, c.env.Validity(sent)), nil
	})
}

func (c byName) Release(ctx context.Context, req lb.Request) error {
	req.Owner = c.env.Client
	return c.releaseOwn(ctx, req)
}

// noNX takes the lock from whoever has it.
type noNX struct{ setPXLua }

func (c noNX) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	sent, err := ask(ctx, c.session, req, "set", func(ctx context.Context) (string, error) {
		return c.rdb.Set(ctx, req.Lock, req.Owner, c.env.TTL).Result()
	}, func(string) error { return nil })
	if err != nil {
		return nil, err
	}
	return c.env.Grant(req, 0, c.env.Validity(sent)), nil
}

// early gives the lock back before the work is done.
type early struct{ fenced }

func (c early) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.fenced.Acquire(ctx, req)
	if err == nil {
		err = c.fenced.Release(ctx, req)
	}
	return lease, err
}

func (early) Release(context.Context, lb.Request) error { return nil }

// sameToken does not count.
type sameToken struct{ fenced }

func (c sameToken) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.fenced.Acquire(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.env.Grant(req, 1, lease.Until()), nil
}

// immortal renews a lock after it gave it back, and without a look at whose it is
// by then.
type immortal struct{ watchdog }

func (c *immortal) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.watchdog.Acquire(ctx, req)
	if err != nil {
		return nil, err
	}
	c.renewals.letGo(req.Owner)
	lease.Renew(func(ctx context.Context) error {
		_, err := ask(ctx, c.session, req, "renew", func(ctx context.Context) (bool, error) {
			return c.rdb.PExpire(ctx, req.Lock, c.env.TTL).Result()
		}, func(bool) error { return nil })
		return err
	})
	return lease, nil
}

// redlockTry is redlock's try with a step that only a majority passes, and with
// what can be left out.
type redlockTry struct {
	redlock
	enough int  // nodes for a grant
	looks  bool // at the time that it took
	cleans bool // up, after a failed try
}

func redlockWith(how string, try redlockTry) lb.Impl {
	return alsoSends("majority", mutate(Redlock(), strings.TrimSuffix("try-"+how, "-"), func(s session) lb.Client {
		try.redlock = newRedlock(s)
		return try
	}))
}

func (c redlockTry) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) { return c.try(ctx, req) })
}

func (c redlockTry) try(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	call := c.env.Clock.Mono()
	set := c.setAll(ctx, req)
	if set.yes >= c.enough {
		err := c.env.Step(ctx, req, lb.After("majority"))
		if !c.looks {
			call = c.env.Clock.Mono()
		}
		if until := c.env.Validity(call); err == nil && c.env.Clock.Mono() < until {
			return c.env.Grant(req, 0, until), nil
		}
	}
	if c.cleans {
		c.cleanUp(ctx, req)
	}
	if ctx.Err() != nil {
		return nil, lb.NoEffect(ctx.Err())
	}
	return nil, lb.ErrHeld
}
