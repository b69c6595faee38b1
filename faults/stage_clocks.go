package faults

import (
	"context"
	"time"
)

// ClockActs are what happens to clocks.
type ClockActs interface {
	// MoveClock sets the clock of a server, or of a worker's host, to be ahead of the
	// machine's, and lets it run fast by rate (0.1 is a tenth) from now on. A server has
	// a wall clock only; the monotonic clock of a worker's host drifts with it.
	MoveClock(ctx context.Context, of Node, ahead time.Duration, rate float64) (*Moved, error)
}

// Moved is a clock that was moved. Ahead is how far it was ahead of the machine's, as
// its host told itself before it was put right.
type Moved struct{ Ahead func() time.Duration }
