package lockbench

import (
	"context"
	"time"
	_ "unsafe" // for go:linkname
)

// Reading is what the monotonic clock of a host shows, in nanoseconds: the clock that
// leases are measured with. A fault may let it drift, so readings of one host mean
// nothing on another. 0 means "none".
type Reading int64

// Add returns the reading d later.
func (r Reading) Add(d time.Duration) Reading { return r + Reading(d) }

// Sub returns the time from o to r, by the host's clock.
func (r Reading) Sub(o Reading) time.Duration { return time.Duration(r - o) }

// Instant is the bench's own time in nanoseconds: CLOCK_MONOTONIC of the machine,
// which no fault touches. It is one clock for every process of a machine, so instants
// that different workers stamped can be compared. 0 means "none".
type Instant int64

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the time from o to i.
func (i Instant) Sub(o Instant) time.Duration { return time.Duration(i - o) }

// Clock is a host's idea of time. A fault may set it or make it drift.
type Clock interface {
	// Now is the wall clock, as a program that stores timestamps reads it. The
	// result carries no monotonic reading.
	Now() time.Time
	// Mono is the monotonic clock, which leases should be measured with.
	Mono() Reading
	// Sleep waits for d of this clock's time or until ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
	// WithTimeout is context.WithTimeout by this clock. Where the result has a deadline,
	// drivers keep it, too, and without a timer of their own.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// HostClock is the clock of this process as it is.
type HostClock struct{}

// Now implements [Clock].
func (HostClock) Now() time.Time { return time.Now().Round(0) }

// Mono implements [Clock].
func (HostClock) Mono() Reading { return Reading(nanotime()) }

// Sleep implements [Clock].
func (HostClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// WithTimeout implements [Clock].
func (HostClock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// nanotime is the runtime's own reading of CLOCK_MONOTONIC. time.Now carries
// the same reading but hides its origin, which differs from process to process.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64
