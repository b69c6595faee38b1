package compose

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
)

// Renew extends the lease every third of the TTL until stop is called, the lease
// is lost, or renew says ErrLost. Each renewal counts from the moment before it
// was sent. A failed renewal is tried again at the next third, at once where that
// has come while nobody answered, since the lease may still be good: only its end, or the server's word, ends it, and of both the
// holder is told.
func Renew(env *lb.Env, lease *lb.Lease, renew func(context.Context) error) (stop func()) {
	ctx, end := context.WithCancel(context.Background())
	const wait = "renewal"
	// Most locks are given back before the first renewal.
	spare := env.After(ctx, lb.Renewal, lease.Request, wait, env.TTL/3, func(ctx context.Context) {
		for again := true; again; {
			call := env.Clock.Mono()
			err := renewOnce(ctx, env, renew)
			switch {
			case ctx.Err() != nil:
				return
			case err == nil:
				lease.Extend(call, env.Validity(call))
			case errors.Is(err, lb.ErrLost):
				lease.Lose("the lock service refused the renewal")
				return
			case lease.Until() != 0 && env.Clock.Mono() >= lease.Until():
				lease.Lose("no renewal was confirmed before the lease's end")
				return
			}
			again = env.Sleep(ctx, lease.Request, wait, env.TTL/3-env.Clock.Mono().Sub(call)) == nil
		}
	})
	return func() {
		spare()
		end()
	}
}

// renewOnce bounds a renewal by the time until the next one.
func renewOnce(ctx context.Context, env *lb.Env, renew func(context.Context) error) error {
	ctx, cancel := env.WithTimeout(ctx, env.TTL/3)
	defer cancel()
	return renew(ctx)
}
