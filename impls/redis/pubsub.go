package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// attempt is one try of an algorithm whose waiters are woken. Where it says
// ErrHeld, it also says how long the waiter need not ask again by itself: that
// is when the dead, who publish nothing, will have lost the lock.
type attempt func(context.Context) (lease *lb.Lease, wait time.Duration, err error)

// listener is a session that can wait for messages. All its waits share one
// connection, which is made for the first, and made anew when it breaks.
type listener struct {
	session
	sub *redis.PubSub
	in  chan struct{} // something has arrived; closed with the connection
}

// await calls try until it no longer says ErrHeld: after every message on the
// channel, and after the wait that try asked for. A subscription that is confirmed
// counts as a message, since what was published before it is missed.
func (l *listener) await(ctx context.Context, req lb.Request, channel string, try attempt) (*lb.Lease, error) {
	for subscribed := false; ; {
		lease, wait, err := try(ctx)
		if !errors.Is(err, lb.ErrHeld) || req.Try {
			if subscribed {
				l.unsubscribe(ctx, req, channel)
			}
			return lease, err
		}
		if !subscribed {
			if err := l.subscribe(ctx, req, channel); err != nil {
				l.hangUp()
				return nil, lb.NoEffect(err)
			}
			subscribed, wait = true, l.env.TTL
		}
		if err := l.env.Wait(ctx, req, "release", func(ctx context.Context) error {
			return l.wakeUp(ctx, wait)
		}); err != nil {
			l.hangUp()
			return nil, lb.NoEffect(err)
		}
		subscribed = l.sub != nil
	}
}

func (l *listener) subscribe(ctx context.Context, req lb.Request, channel string) error {
	select {
	case _, open := <-l.in: // what came too late for the wait before
		if !open {
			l.hangUp()
		}
	default:
	}
	first := l.sub == nil
	if first {
		l.sub, l.in = l.rdb.Subscribe(ctx), make(chan struct{}, 1)
	}
	err := l.env.Send(ctx, req, "subscribe", func(ctx context.Context) error {
		return subscription(ctx, l.sub.Subscribe, channel)
	})
	if err == nil && first {
		go receive(l.sub, l.in)
	}
	return err
}

func (l *listener) unsubscribe(ctx context.Context, req lb.Request, channel string) {
	sub := l.sub
	if err := l.env.Send(lb.As(ctx, lb.CleanUp), req, "unsubscribe", func(ctx context.Context) error {
		return subscription(ctx, sub.Unsubscribe, channel)
	}); err != nil {
		l.hangUp()
	}
}

func subscription(ctx context.Context, change func(context.Context, ...string) error, channel string) error {
	_, err := redisconn.Ask(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, change(ctx, channel) })
	if err != nil {
		return fmt.Errorf("redis: change a subscription: %w", err)
	}
	return nil
}

// receive says that something has arrived, until the connection ends. The driver would
// make another by itself, and subscribe unseen; for that it needs a context that has
// not ended, and to read it needs none.
func receive(sub *redis.PubSub, in chan<- struct{}) {
	defer close(in)
	ended, end := context.WithCancel(context.Background())
	end()
	for {
		msg, err := sub.Receive(ended)
		if err != nil {
			return
		}
		if s, ok := msg.(*redis.Subscription); ok && s.Kind == "unsubscribe" {
			continue // the end of the wait before
		}
		select {
		case in <- struct{}{}:
		default:
		}
	}
}

// hangUp gives up the connection, whose state is not known. It does not wait for
// the driver, which may be busy with it.
func (l *listener) hangUp() {
	if sub := l.sub; sub != nil {
		l.sub = nil
		l.env.Go(context.Background(), lb.CleanUp, func(context.Context) { _ = sub.Close() })
	}
}

// wakeUp returns after a message, after d, or when no message can come any more.
func (l *listener) wakeUp(ctx context.Context, d time.Duration) error {
	limited, cancel := l.env.WithTimeout(ctx, d)
	defer cancel()
	select {
	case _, open := <-l.in:
		if !open {
			l.hangUp()
		}
	case <-limited.Done():
	}
	return ctx.Err()
}

// Close ends the subscriptions, too.
func (l *listener) Close() error {
	l.hangUp()
	return l.session.Close()
}

// untilFree is how long a lease lasts of which a script said that n milliseconds
// are left. A key that never expires is nothing that these algorithms write, but
// no reason to wait for ever either.
func (s session) untilFree(n int64) time.Duration {
	if n < 0 {
		return s.env.TTL
	}
	return time.Duration(n+1) * time.Millisecond // Redis rounds down
}
