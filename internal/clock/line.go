package clock

import (
	"math"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Line is how the clock of one recorder differs from the reference, as far as is known: what to
// add to a time that it shows, and how wrong that may be. The zero value is the reference itself.
type Line struct {
	// Offset is what to add at From, and PPB how much more for each billion after that.
	Offset time.Duration
	PPB    int64
	// From and To are when it was measured, by the recorder's own clock. Before and after, the
	// offset is that of the nearer end.
	From, To lb.Instant
	// Error is how wrong that may be, either way, from From to To. Beyond, it grows by Strays
	// billionths of the time.
	Error  time.Duration
	Strays int64
	// Likely is how wrong it may be at the times at which the clocks were compared. It is so at others, too,
	// if they ran evenly in between and beyond, which nobody knows.
	Likely time.Duration
}

// At is what to add to the time t of the recorder.
func (l Line) At(t lb.Instant) time.Duration {
	since := min(max(t, l.From), l.To) - l.From
	return l.Offset + time.Duration(share(since, l.PPB))
}

// Err is how wrong [Line.At] may be.
func (l Line) Err(t lb.Instant) time.Duration {
	beyond := max(l.From-t, t-l.To, 0)
	return l.Error + time.Duration(math.Ceil(share(beyond, l.Strays)))
}

// Holds reports whether the clock differs as truth says, as far as l knows: at times from long before it
// was measured to long after.
func (l Line) Holds(truth Line) bool {
	const parts = 100
	const rounding = 100 * time.Nanosecond // of a drift in whole billionths
	for i := -parts; i <= 2*parts; i++ {
		t := l.From + (l.To-l.From)*lb.Instant(i)/parts
		if off := l.At(t) - truth.At(t); max(off, -off) > l.Err(t)+truth.Err(t)+rounding {
			return false
		}
	}
	return true
}

func share(of lb.Instant, ppb int64) float64 { return float64(of) * (float64(ppb) / 1e9) }
