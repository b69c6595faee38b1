package lockbench

import (
	"context"
	"errors"
)

// Renew extends the lease every third of the TTL, in the background, until stop is called, the lease
// is lost, or renew returns [ErrLost]. It calls renew with as much time as there is until the next
// renewal, and each counts from the moment before it was sent, for as long as [Env.Validity] says. A
// renewal that failed is tried again at the next third, at once where that
// has come while nobody answered, since the lease may still be good: only its end, or the server's
// word, ends it, and of both the holder is told ([Lease.Lost]). Call stop before the lock is given back.
func (l *Lease) Renew(renew func(context.Context) error) (stop func()) {
	const wait = "renewal"
	env := l.env
	ctx, end := context.WithCancel(context.Background())
	// Most locks are given back before the first renewal.
	spare := env.After(ctx, Renewal, l.Request, wait, env.TTL/3, func(ctx context.Context) {
		for again := true; again; {
			call := env.Clock.Mono()
			err := renewOnce(ctx, env, renew)
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				l.Extend(call, env.Validity(call))
			case errors.Is(err, ErrLost):
				l.Lose("the lock service refused the renewal")
				return
			case l.Until() != 0 && env.Clock.Mono() >= l.Until():
				l.Lose("no renewal was confirmed before the lease's end")
				return
			}
			again = env.Sleep(ctx, l.Request, wait, env.TTL/3-env.Clock.Mono().Sub(call)) == nil
		}
	})
	return func() {
		spare()
		end()
	}
}

// renewOnce bounds a renewal by the time until the next one.
func renewOnce(ctx context.Context, env *Env, renew func(context.Context) error) error {
	ctx, cancel := env.WithTimeout(ctx, env.TTL/3)
	defer cancel()
	return renew(ctx)
}
