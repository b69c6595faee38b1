// Package clock is the bench's own time, and the clocks that a fault gives to a
// process: all that runs in it, whatever library it is part of, then reads those
// instead of the machine's.
package clock

import (
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname

	lb "github.com/lockbench/lockbench"
)

// Now is the machine's CLOCK_MONOTONIC, whatever the clocks of this process say.
func Now() lb.Instant {
	if moved.Load() == nil {
		return lb.Instant(nanotime())
	}
	return monotonic()
}

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// skew is how a clock differs from the machine's: by offset ns, and by ppb billionths
// of the time since an instant. The clock of the process reads it from memory.
type skew struct{ offset, since, ppb int64 }

func (s skew) at(now lb.Instant) time.Duration {
	return time.Duration(s.offset) + time.Duration(float64(int64(now)-s.since)*float64(s.ppb)/1e9)
}

// clocks are those of a process: the wall clock and the monotonic one.
type clocks struct{ wall, mono skew }

var (
	moving sync.Mutex
	moved  atomic.Pointer[clocks] // nil until a clock of this process was first moved
)

// Move sets the wall clock of this process to be ahead of the machine's, and lets both
// its clocks run fast by rate (0.1 is a tenth) from now on; see [ForChildren] for those of
// the programs that it starts. The monotonic clock never
// jumps: what it has gained or lost by a drift it keeps.
func Move(ahead time.Duration, rate float64) error {
	moving.Lock()
	defer moving.Unlock()
	old := moved.Load()
	if old == nil {
		if err := own(); err != nil {
			return err
		}
		old = &clocks{}
	}
	now, ppb := monotonic(), int64(rate*1e9)
	next := &clocks{
		wall: skew{int64(ahead), int64(now), ppb},
		mono: skew{int64(old.mono.at(now)), int64(now), ppb},
	}
	moved.Store(next)
	show(next)
	tell(next)
	return nil
}

// Ahead is how far the wall clock of this process is ahead of the machine's, as its
// programs read it.
func Ahead() time.Duration {
	if moved.Load() == nil {
		return 0
	}
	//lint:ignore S1012 time.Since reads a clock that may be moved; the difference to the machine's is the point
	return time.Now().Sub(wall())
}

// True translates a reading of this process's monotonic clock, past or to come, to the
// bench's time: what is believed until 5 s ends when that clock shows it.
func True(r lb.Reading) lb.Instant {
	c := moved.Load()
	if c == nil || r == 0 {
		return lb.Instant(r)
	}
	m := c.mono
	own := m.since + m.offset // what the clock showed at since
	return lb.Instant(m.since + int64(float64(int64(r)-own)/(1+float64(m.ppb)/1e9)))
}
