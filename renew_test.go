package lockbench_test

import (
	"context"
	"errors"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// TestRenew extends the lease every third, counted from before each request was sent,
// until it is stopped.
func TestRenew(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		const answers = 50 * time.Millisecond // after so long
		lease := env.Grant(lb.Request{}, 0, env.Validity(env.Clock.Mono()))
		sent := []lb.Reading{}
		stop := lease.Renew(func(ctx context.Context) error {
			sent = append(sent, env.Clock.Mono())
			return env.Clock.Sleep(ctx, answers)
		})
		_ = env.Clock.Sleep(t.Context(), 5*ttl+100*time.Millisecond) // not just when one is sent
		if n := len(sent); n < 12 || n > 15 {
			t.Errorf("%d renewals in 5 TTL", n)
		}
		if last := sent[len(sent)-1]; !lease.Valid() || lease.Until() != env.Validity(last) && lease.Until() != env.Validity(sent[len(sent)-2]) {
			t.Errorf("the lease lasts until %v, and the last renewal was sent at %v", lease.Until(), last)
		}
		stop()
		n := len(sent)
		_ = env.Clock.Sleep(t.Context(), 2*ttl)
		if len(sent) != n || lease.Valid() {
			t.Errorf("stopped, it was renewed %d times; valid: %v", len(sent)-n, lease.Valid())
		}
		if over(lease) {
			t.Error("who stops it has not lost the lock")
		}
	})
}

// TestStopDuringARenewal: who gives the lock back is not told that it is lost, though
// the renewal on its way finds it gone.
func TestStopDuringARenewal(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		lease := env.Grant(lb.Request{}, 0, env.Validity(env.Clock.Mono()))
		stop := lease.Renew(func(ctx context.Context) error { <-ctx.Done(); return lb.ErrLost })
		_ = env.Clock.Sleep(t.Context(), ttl/2)
		stop()
		_ = env.Clock.Sleep(t.Context(), time.Millisecond)
		if over(lease) {
			t.Error("it was said to be lost")
		}
	})
}

// TestRenewalRefused ends the lease at once, and the renewals.
func TestRenewalRefused(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		lease, n := env.Grant(lb.Request{}, 0, env.Validity(env.Clock.Mono())), 0
		defer lease.Renew(func(context.Context) error { n++; return lb.ErrLost })()
		_ = env.Clock.Sleep(t.Context(), ttl/3+time.Millisecond)
		if !over(lease) || lease.Valid() {
			t.Error("the holder was not told")
		}
		_ = env.Clock.Sleep(t.Context(), 3*ttl)
		if n != 1 {
			t.Errorf("%d renewals", n)
		}
	})
}

// TestRenewalFails: the lease is good until its end, and then the holder is told; each
// renewal is bounded, or one without an answer would be the last.
func TestRenewalFails(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		lease, n := env.Grant(lb.Request{}, 0, env.Validity(env.Clock.Mono())), 0
		defer lease.Renew(func(ctx context.Context) error { n++; <-ctx.Done(); return ctx.Err() })()
		_ = env.Clock.Sleep(t.Context(), ttl*9/10)
		if over(lease) || !lease.Valid() {
			t.Error("the holder was told too early")
		}
		_ = env.Clock.Sleep(t.Context(), ttl/2)
		if !over(lease) || n != 2 {
			t.Errorf("after %d renewals in 1.4 TTL the holder was told: %v", n, over(lease))
		}
	})
}

// TestRenewalFailsOnce is tried again in time.
func TestRenewalFailsOnce(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		lease, n := env.Grant(lb.Request{}, 0, env.Validity(env.Clock.Mono())), 0
		defer lease.Renew(func(context.Context) error {
			if n++; n%2 == 1 {
				return errors.New("connection lost")
			}
			return nil
		})()
		_ = env.Clock.Sleep(t.Context(), 10*ttl)
		if over(lease) || !lease.Valid() {
			t.Errorf("the lease is over after %d renewals", n)
		}
	})
}

// TestRenewWithoutABound: a lock that has no lease is lost only by the server's word.
func TestRenewWithoutABound(t *testing.T) {
	inTime(t, func(t *testing.T, env *lb.Env) {
		lease := env.Grant(lb.Request{}, 0, 0)
		defer lease.Renew(func(context.Context) error { return errors.New("connection lost") })()
		_ = env.Clock.Sleep(t.Context(), 10*ttl)
		if over(lease) {
			t.Error("it was said to be lost")
		}
	})
}

func over(l *lb.Lease) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}
