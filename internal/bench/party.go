package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/lab"
)

// openBound is how long the sessions of a party may take to open, and to close. Where the
// time is short they may take less to open, but no less than leastOpen.
const (
	openBound = 10 * time.Second
	leastOpen = 4 * time.Second
)

// openWithin is how long they may take to open in a visit of that budget.
func openWithin(budget time.Duration) time.Duration {
	return min(openBound, max(leastOpen, budget))
}

// party are clients of one algorithm, each with a session of its own.
type party struct {
	row     row
	ttl     time.Duration
	seed    uint64
	clients []*client
}

// client is one of them. It is used from one goroutine at a time.
type client struct {
	env     *lb.Env
	session lb.Client
	count   *counts
	n       int // of acquisitions, for their ids
}

// request is that of a new acquisition.
func (c *client) request(lock string) lb.Request {
	c.n++
	return lb.Request{Lock: lock, Owner: fmt.Sprintf("%s.%d", c.env.Client, c.n)}
}

// acquire and release are the client's calls. A lock that panics costs its own row
// figures, and no other.
func (c *client) acquire(ctx context.Context, req lb.Request) error {
	return guarded(func() error {
		_, err := c.session.Acquire(ctx, req)
		return err
	})
}

// That the lock was not held any more, or that nobody knows, is the lock's answer and no
// failure: what it is worth is for the matrix to say.
func (c *client) release(ctx context.Context, req lb.Request) error {
	err := guarded(func() error { return c.session.Release(ctx, req) })
	switch lb.AnswerOf(err) {
	case lb.AnswerLost, lb.AnswerReleased:
		return nil
	}
	return err
}

func guarded(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the lock panicked: %v", r)
		}
	}()
	return call()
}

// parties tells sessions of one run apart.
var parties atomic.Uint64

// grow opens sessions until there are n. When they are not open within so long, or before
// the end of ctx, the error is errHung.
func (p *party) grow(ctx context.Context, n int, bound time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	number := parties.Add(1)
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		opened []*client
		late   bool // nobody waits any more
		errs   []error
	)
	for i := len(p.clients); i < n; i++ {
		wg.Go(func() {
			c, err := p.open(ctx, number, i)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				errs = append(errs, err)
			case late:
				_ = guarded(c.session.Close) // what it leaves is the servers' to end
			default:
				opened = append(opened, c)
			}
		})
	}
	done := within(ctx, &wg)
	mu.Lock()
	defer mu.Unlock()
	late = true
	p.clients = append(p.clients, opened...)
	if !done || len(errs) > 0 && ctx.Err() != nil {
		return fmt.Errorf("open %d sessions within %v: %w", n, bound, errHung)
	}
	if len(errs) > 0 {
		return fmt.Errorf("open a session: %w", errs[0])
	}
	return nil
}

func (p *party) open(ctx context.Context, number uint64, i int) (*client, error) {
	count := &counts{asks: p.asks()}
	env := &lb.Env{
		Client: fmt.Sprintf("b%d-%d", number, i), TTL: p.ttl, Clock: lb.HostClock{}, Probe: count,
		Servers: p.row.on.up.Endpoints(), Sentinels: lab.Endpoints(p.row.on.up.Sentinels), Master: p.row.on.up.Master(),
		Rand: rand.New(rand.NewPCG(p.seed, number<<16+uint64(i))),
	}
	c := &client{env: env, count: count}
	return c, guarded(func() (err error) {
		c.session, err = p.row.impl.Open(ctx, env)
		return err
	})
}

// asks are the steps that are requests.
func (p *party) asks() map[string]bool {
	steps := map[string]bool{}
	for _, r := range p.row.impl.Info().Requests {
		steps[lb.Before(r)] = true
	}
	return steps
}

var errHung = errors.New("its clients do not come to an end")

// close ends all sessions. One that does not end is left behind, and an error.
func (p *party) close() error {
	var wg sync.WaitGroup
	for _, c := range p.clients {
		wg.Go(func() { _ = guarded(c.session.Close) }) // what it leaves is the servers' to end
	}
	ctx, cancel := context.WithTimeout(context.Background(), openBound)
	defer cancel()
	if !within(ctx, &wg) {
		return fmt.Errorf("close the sessions: %w", errHung)
	}
	return nil
}

// within waits for a group, but not for longer than ctx, and reports whether it is done.
func within(ctx context.Context, wg *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// counts counts what clients send and how often they wake. It is the probe of the bench:
// it stops nobody.
type counts struct {
	asks            map[string]bool
	requests, wakes atomic.Int64
}

// Step implements [lb.Probe].
func (c *counts) Step(ctx context.Context, m lb.Move) error {
	if c.asks[m.Name] {
		c.requests.Add(1)
	}
	return ctx.Err()
}

// Wait implements [lb.Probe].
func (c *counts) Wait(context.Context, lb.Move) func() {
	return func() { c.wakes.Add(1) }
}

// Go implements [lb.Probe].
func (c *counts) Go(lb.Actor) func() { return func() {} }

// Renewed implements [lb.Probe].
func (c *counts) Renewed(*lb.Lease, lb.Reading) {}

// Lost implements [lb.Probe].
func (c *counts) Lost(*lb.Lease, string) {}
