package bench

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/cost"
)

// crowd are clients of a party that want the same lock, or the same few, at once.
type crowd struct {
	clients []*client
	locks   []string
	ttl     time.Duration
	books   []*cost.Ledger // of each lock
	// next is when a client's next acquisition is to begin; nil for as soon as it can.
	next func(client int) lb.Instant

	ended  atomic.Int64 // the Instant at which the time measured was over
	mu     sync.Mutex
	failed error // the first error
	errors int
}

// tolerated is how many failures of a visit are told but do not end it.
const tolerated = 20

// counted is what a crowd did in the time measured.
type counted struct {
	cost.Tally
	waits           *cost.Latencies // of hand-offs or, at a rate, since the intended time
	requests, wakes int64
}

func newCrowd(p *party, clients int, locks []string) *crowd {
	c := &crowd{clients: p.clients[:clients], locks: locks, ttl: p.ttl}
	for range locks {
		c.books = append(c.books, cost.NewLedger(clients))
	}
	return c
}

// together lets a crowd work. The first fifth of the window is warm-up. begin and end are
// called around what is measured. A crowd that does not come to an end is errHung.
func (c *crowd) together(ctx context.Context, window time.Duration, begin, end func()) (counted, error) {
	own := make([]*cost.Latencies, len(c.clients))
	working, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	for i, client := range c.clients {
		own[i] = cost.NewLatencies()
		wg.Go(func() { c.work(working, i, client, own[i]) })
	}
	var r counted
	sleep(ctx, window/5)
	requests, wakes := c.counts()
	begin()
	start := clock.Now()
	for _, b := range c.books {
		b.Begin(start)
	}
	for end := start.Add(window - window/5); clock.Now() < end && !c.enough() && ctx.Err() == nil; {
		sleep(ctx, min(leastWindow, end.Sub(clock.Now())))
	}
	for range 2 * extensions {
		if c.grants() >= fewGrants {
			break
		}
		sleep(ctx, window/2+leastWindow)
	}
	stopped := clock.Now()
	c.ended.Store(int64(stopped))
	for _, b := range c.books {
		r.Tally.Add(b.End(stopped))
	}
	end()
	r.requests, r.wakes = c.counts()
	r.requests, r.wakes = r.requests-requests, r.wakes-wakes
	stop()
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*c.ttl+time.Second)
	defer cancel()
	if !within(patient, &wg) {
		return r, errHung
	}
	r.waits = cost.NewLatencies()
	r.waits.Merge(own...)
	if c.errors > tolerated || r.Grants == 0 && c.failed != nil {
		return r, fmt.Errorf("calls failed: %w", c.failed)
	}
	return r, ctx.Err()
}

// A rate of fewer grants than this is none: the window is then extended, up to so many
// times by itself. With enough hand-offs the window is over, and others have its time.
const (
	fewGrants      = 5
	enoughHandOffs = 500
	extensions     = 2
)

// enough: only a closed loop for one lock hands on, and an open one is to show whether it keeps up.
func (c *crowd) enough() bool { return c.next == nil && c.books[0].HandOffs() >= enoughHandOffs }

func (c *crowd) grants() (n int) {
	for _, b := range c.books {
		n += b.Grants()
	}
	return n
}

func (c *crowd) counts() (requests, wakes int64) {
	for _, client := range c.clients {
		requests += client.count.requests.Load()
		wakes += client.count.wakes.Load()
	}
	return requests, wakes
}

// work is what one client does until ctx ends: it holds the lock for no time at all.
func (c *crowd) work(ctx context.Context, i int, client *client, own *cost.Latencies) {
	var intended lb.Instant
	defer func() { c.overdue(i, intended, own) }()
	for ctx.Err() == nil && c.bearable() {
		if c.next != nil {
			intended = c.next(i)
			sleep(ctx, intended.Sub(clock.Now()))
			if ctx.Err() != nil {
				return
			}
		}
		which := client.env.Rand.IntN(len(c.locks))
		req, book := client.request(c.locks[which]), c.books[which]
		book.Asked(i, clock.Now())
		err := client.acquire(ctx, req)
		at := clock.Now()
		if err != nil {
			book.GaveUp(i, at)
			c.gaveUp(ctx, client, req, err)
			continue
		}
		g := book.Granted(i, at)
		switch {
		case !g.Counted:
		case c.next != nil:
			own.Add(at.Sub(intended))
		case g.Origin == cost.HandOff:
			own.Add(g.Since)
		}
		book.Released(i, clock.Now())
		c.fail(c.release(ctx, client, req))
		intended = 0 // it is done
	}
}

// overdue counts what an open loop still owes at the end as having waited until then:
// left out, a lock that does not keep up would seem to be quick.
func (c *crowd) overdue(i int, intended lb.Instant, own *cost.Latencies) {
	ended := lb.Instant(c.ended.Load())
	if c.next == nil || ended == 0 {
		return
	}
	if intended == 0 {
		intended = c.next(i)
	}
	for ; intended < ended; intended = c.next(i) {
		own.Add(ended.Sub(intended))
	}
}

// gaveUp takes back what a failed acquisition may have left.
func (c *crowd) gaveUp(ctx context.Context, client *client, req lb.Request, err error) {
	if lb.AnswerOf(err) == lb.AnswerUnknown {
		_ = c.release(ctx, client, req) // it may well hold nothing
	}
	if ctx.Err() == nil {
		c.fail(err)
		sleep(ctx, time.Millisecond) // a server that refuses is not asked without a pause
	}
}

// release gives back, also when the time is over.
func (c *crowd) release(ctx context.Context, client *client, req lb.Request) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.ttl)
	defer cancel()
	return client.release(ctx, req)
}

func (c *crowd) fail(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errors++
	if c.failed == nil {
		c.failed = err
	}
}

func (c *crowd) bearable() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.errors <= tolerated
}

func sleep(ctx context.Context, d time.Duration) {
	if d > 0 {
		_ = lb.HostClock{}.Sleep(ctx, d)
	}
}
