package consul

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// expect is that of a session without a lock-delay.
func expect() []lb.Expectation {
	return compose.Except(compose.OnSession(compose.OnMonotonicClock(compose.OnQuorum(compose.FencedLease()), "Consul")), compose.KeptAlive())
}

// delayedExpect is that of one with Consul's own.
func delayedExpect() []lb.Expectation { return expect() }
