package clock

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
)

const (
	heartbeat = 5 * time.Millisecond
	// Late is how late a heartbeat must be, or an answer, to be told of. Two busy cores can
	// keep a process waiting for some tens of milliseconds.
	Late = 100 * time.Millisecond
)

// Gaps tells of each time in which this process did not run, when it does again, until
// ctx ends: of a freeze, and of a machine that was too busy.
func Gaps(ctx context.Context, tell func(from, to lb.Instant)) {
	last := Now()
	for (lb.HostClock{}).Sleep(ctx, heartbeat) == nil {
		now := Now()
		if now.Sub(last) > Late {
			tell(last, now)
		}
		last = now
	}
}
