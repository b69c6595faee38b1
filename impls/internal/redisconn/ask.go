package redisconn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Ask sends a command and gives it up when the time of ctx is over. What it has not sent
// by then it can't send any more. A caller who only does not want the answer any more
// gets it all the same: to leave it would make an unknown of every command that is under
// way when a client stops, and a lock whose key bears no owner would be taken from its
// holder for it.
//
// The command runs in the caller's goroutine, which costs nothing, since the driver gives
// the deadline to the connection itself.
func Ask[T any](ctx context.Context, command func(context.Context) (T, error)) (T, error) {
	end, ends := ctx.Deadline()
	patient := context.WithoutCancel(ctx)
	if !ends {
		return command(patient)
	}
	patient, cancel := context.WithDeadline(patient, end)
	defer cancel()
	v, err := command(deadline{patient, end})
	if errors.Is(err, os.ErrDeadlineExceeded) && time.Until(end) <= 0 {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return v, err
}

// deadline is a context whose deadline the driver can compare with what it reads from
// the wall clock, though that may have been set since: it is as far away as it is by the
// monotonic clock.
type deadline struct {
	context.Context
	end time.Time
}

func (c deadline) Deadline() (time.Time, bool) {
	return time.Now().Add(time.Until(c.end)).Round(0), true
}
