package redisconn

import (
	"context"
	"errors"
	"time"
)

// Ask sends a command and gives it up when the time of ctx is over. The driver by itself
// sees only deadlines, by a clock that is not the host's. What it has not sent by then it
// can't send any more. A caller who only does not want the answer any more gets it all
// the same: to leave it would make an unknown of every command that is under way when a
// client stops, and a lock whose key bears no owner would be taken from its holder for it.
func Ask[T any](ctx context.Context, command func(context.Context) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	patient, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			giveUp()
		}
	})
	defer stop()
	done := make(chan answer, 1)
	go func() {
		v, err := command(ending{patient})
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.v, a.err
	case <-patient.Done():
	}
	select {
	case a := <-done: // just in time
		return a.v, a.err
	default:
		var none T
		return none, ctx.Err()
	}
}

// ending is a context whose deadline is long over when it has ended.
type ending struct{ context.Context }

func (c ending) Deadline() (time.Time, bool) {
	if c.Err() != nil {
		return time.Unix(1, 0), true
	}
	return c.Context.Deadline()
}
