package lockbench

import (
	"time"
	_ "unsafe" // for go:linkname
)

// Instant is a reading of the machine's CLOCK_MONOTONIC in nanoseconds. It is
// one clock for every process of a machine, so instants that different workers
// stamped can be compared. 0 means "none".
type Instant int64

// Now reads the clock.
func Now() Instant { return Instant(nanotime()) }

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the time from o to i.
func (i Instant) Sub(o Instant) time.Duration { return time.Duration(i - o) }

// nanotime is the runtime's own reading of CLOCK_MONOTONIC. time.Now carries
// the same reading but hides its origin, which differs from process to process;
// only the raw value can be compared between workers.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64
