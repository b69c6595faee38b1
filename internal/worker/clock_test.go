package worker

import (
	"context"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// near allows for the time between two readings on a busy machine.
func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d < -20*time.Millisecond || d > 20*time.Millisecond {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func ahead(c *hostClock) time.Duration { return c.Now().Sub(time.Now().Round(0)) }

func TestClockIsTheMachinesUntilItIsSet(t *testing.T) {
	var c hostClock
	near(t, "the wall clock's lead", ahead(&c), 0)
	near(t, "the monotonic clock's lead", c.Mono().Sub(lb.Now()), 0)
}

func TestStepMovesTheWallClockOnly(t *testing.T) {
	var c hostClock
	near(t, "the lead that is told", c.set(10*time.Second, 0), 10*time.Second)
	near(t, "the wall clock's lead", ahead(&c), 10*time.Second)
	near(t, "the monotonic clock's lead", c.Mono().Sub(lb.Now()), 0)
	c.set(-10*time.Second, 0)
	near(t, "the lead after the step back", ahead(&c), 0)
}

func TestDriftIsInBothAndStaysWhenItEnds(t *testing.T) {
	var c hostClock
	c.set(0, 1) // twice as fast
	start := lb.Now()
	if err := c.Sleep(context.Background(), 200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	took := lb.Now().Sub(start)
	near(t, "a sleep of 200 ms by a fast clock", took, 100*time.Millisecond)
	near(t, "the wall clock's lead", ahead(&c), took)
	near(t, "the monotonic clock's lead", c.Mono().Sub(lb.Now()), took)
	lead := c.set(0, 0)
	time.Sleep(50 * time.Millisecond)
	near(t, "the lead after the drift ended", ahead(&c), lead)
}

// TestTrue: what this clock will show at the end of a lease is translated to when
// it will show it.
func TestTrue(t *testing.T) {
	var c hostClock
	now := lb.Now()
	if got := c.true(now); got != now {
		t.Errorf("an unskewed clock translates %d to %d", now, got)
	}
	c.set(0, -0.5) // half as fast: a lease of 1 s lasts for 2 s
	near(t, "a lease of 1 s by a slow clock", c.true(c.Mono().Add(time.Second)).Sub(lb.Now()), 2*time.Second)
	if c.true(0) != 0 {
		t.Error("no end became an end")
	}
}
