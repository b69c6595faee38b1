package worker

import (
	"context"
	"math/rand/v2"
	"time"

	lb "github.com/lockbench/lockbench"
)

// caller is how the program around a lock treats a release that failed, and how long it waits.
type caller struct {
	rand *rand.Rand
	// bears says that the lock ends by itself, by a lease: who leaves it then keeps nobody from it for ever.
	bears bool
	// ownTime says that requests have timeouts of their own, which a program's library sets for itself.
	ownTime bool
	owed    []lb.Request // releases that it comes back to later
}

// newCaller is the one that the seed draws for the nth client of a process.
func newCaller(info lb.Info, seed, n uint64) *caller {
	return &caller{rand: rand.New(rand.NewPCG(seed, ^n)), bears: info.Traits.Leased && !info.Traits.Session, ownTime: !info.Program}
}

// comesBack is when a caller comes back to a release that failed.
type comesBack int

const (
	atOnce comesBack = iota
	later            // when it has been granted a lock again
	never
)

// comes draws; without a caller to ask, it is at once. A lock that ends with its session would be kept by who stays away.
func (c *caller) comes() comesBack {
	if c == nil || !c.bears {
		return atOnce
	}
	switch n := c.rand.IntN(10); {
	case n < 5:
		return atOnce
	case n < 8:
		return later
	}
	return never
}

// owes is what it comes back to now, once.
func (c *caller) owes() (owed []lb.Request) {
	if c != nil {
		owed, c.owed = c.owed, nil
	}
	return owed
}

// How long a release may take in all, in leases: as good as any time, but one that never comes to an
// end must not hang the run.
const longestRelease = 10

// requestTime is how long a request of a release waits for its answer: short against the lease, as timeouts
// of drivers are, so that who asks again does so while the lease lasts.
func requestTime(ttl time.Duration) time.Duration { return ttl / 3 }

// patience is ctx for one call of a release, which the end of the run does not end before a lease is over.
func (c *caller) patience(run context.Context, env *lb.Env) (context.Context, context.CancelFunc) {
	ctx := context.WithoutCancel(run)
	if c == nil || !c.ownTime {
		return context.WithTimeout(ctx, env.TTL)
	}
	ctx, cancel := context.WithTimeout(lb.EachWithin(ctx, requestTime(env.TTL)), longestRelease*env.TTL)
	stop := context.AfterFunc(run, func() {
		_ = lb.HostClock{}.Sleep(ctx, env.TTL)
		cancel()
	})
	return ctx, func() { stop(); cancel() }
}
