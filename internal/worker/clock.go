package worker

import (
	"context"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
)

// hostClock is the clock of the worker's host, which a fault may set and make
// drift. A step moves the wall clock only, as setting a machine's clock does; a
// drift is in the oscillator, and so in the monotonic clock and the sleeps, too.
type hostClock struct {
	skew atomic.Pointer[skew]
}

// skew is the state of a skewed clock since the instant at which it was set.
type skew struct {
	since lb.Instant
	ahead time.Duration // of the wall clock, at since
	slip  time.Duration // of the monotonic clock, at since
	rate  float64
}

func (s *skew) drifted(now lb.Instant) time.Duration {
	return time.Duration(float64(now.Sub(s.since)) * s.rate)
}

// set lets the clock jump by step and run fast by rate from now on, and returns
// how far it is ahead of the machine's.
func (c *hostClock) set(step time.Duration, rate float64) time.Duration {
	now, next := lb.Now(), &skew{rate: rate}
	next.since = now
	if old := c.skew.Load(); old != nil {
		next.ahead, next.slip = old.ahead+old.drifted(now), old.slip+old.drifted(now)
	}
	next.ahead += step
	c.skew.Store(next)
	return c.Now().Sub(time.Now().Round(0))
}

// Now implements [lb.Clock].
func (c *hostClock) Now() time.Time {
	t := time.Now().Round(0)
	if s := c.skew.Load(); s != nil {
		t = t.Add(s.ahead + s.drifted(lb.Now()))
	}
	return t
}

// Mono implements [lb.Clock].
func (c *hostClock) Mono() lb.Instant {
	now := lb.Now()
	if s := c.skew.Load(); s != nil {
		return now.Add(s.slip + s.drifted(now))
	}
	return now
}

// Sleep implements [lb.Clock]: a fast clock makes short sleeps.
func (c *hostClock) Sleep(ctx context.Context, d time.Duration) error {
	if s := c.skew.Load(); s != nil && s.rate > -1 {
		d = time.Duration(float64(d) / (1 + s.rate))
	}
	return lb.HostClock{}.Sleep(ctx, d)
}

// true translates an instant of this clock to the machine's, for the record:
// what a client believes until 5 s by its own clock ends when that clock shows it.
func (c *hostClock) true(i lb.Instant) lb.Instant {
	s := c.skew.Load()
	if s == nil || i == 0 {
		return i
	}
	own := s.since.Add(s.slip) // what this clock showed at since
	return s.since.Add(time.Duration(float64(i.Sub(own)) / (1 + s.rate)))
}
