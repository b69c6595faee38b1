package conform

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// declaredBound: a lease says how long it is good for, if it is one.
func declaredBound(ctx context.Context, b *bench) error {
	p, err := b.client(ctx)
	if err != nil {
		return err
	}
	call := lb.HostClock{}.Mono()
	h, err := p.soon(ctx, b.lock)
	if err != nil {
		return err
	}
	until, leased := h.lease.Until(), b.impl.Info().Traits.Leased
	switch {
	case leased && until == 0:
		return errors.New("claims to be leased, but its lease has no end")
	case !leased && until != 0:
		return errors.New("does not claim to be leased, but its lease has an end")
	case leased && until.Sub(call) <= 0:
		return errors.New("the lease has ended before it was granted")
	case leased && until.Sub(lb.HostClock{}.Mono()) > b.ttl:
		return fmt.Errorf("the lease is good for %v, longer than its TTL of %v", until.Sub(lb.HostClock{}.Mono()), b.ttl)
	}
	if h.lease.Request != h.req {
		return fmt.Errorf("the lease is that of %+v, want %+v", h.lease.Request, h.req)
	}
	return h.release(ctx)
}

// renewal: a lease that is renewed outlives its TTL.
func renewal(ctx context.Context, b *bench) error {
	ps, h, err := b.taken(ctx, 2)
	if err != nil {
		return err
	}
	for range 3 {
		if err := pause(ctx, b.ttl); err != nil {
			return err
		}
		if !h.lease.Valid() {
			return errors.New("a renewed lease is not valid any more")
		}
		if err := ps[1].refused(ctx, b.lock); err != nil {
			return fmt.Errorf("although the lease is renewed: %w", err)
		}
	}
	return h.release(ctx)
}

// leaseEnds: a lease that is not renewed ends, its holder knows, the next one
// gets the lock, and the late release does no harm.
func leaseEnds(ctx context.Context, b *bench) error {
	ps, late, err := b.taken(ctx, 3)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, b.ttl+expiry)
	defer cancel()
	next, err := ps[1].acquire(limited, b.lock)
	switch {
	case err != nil:
		return fmt.Errorf("not granted within %v, although a lease of %v was not renewed: %w", b.ttl+expiry, b.ttl, err)
	case late.lease.Valid():
		return errors.New("another client was granted the lock while the lease was still valid")
	}
	return stillHeld(ctx, next, late, ps[2])
}

// lostNotice: a holder that is cut off for longer than its lease is told.
func lostNotice(ctx context.Context, b *bench) error {
	ps, h, err := b.taken(ctx, 1)
	if err != nil {
		return err
	}
	p := ps[0]
	if err := pause(ctx, b.ttl/2); err != nil {
		return err
	}
	select {
	case <-h.lease.Lost():
		return errors.New("told that it lost a lock that it holds")
	default:
	}
	p.hang()
	select {
	case <-h.lease.Lost():
	case <-time.After(b.ttl + expiry):
		return fmt.Errorf("not told within %v that it lost the lock (valid by its own look: %v)", b.ttl+expiry, h.lease.Valid())
	}
	if h.lease.Valid() {
		return errors.New("the lease is valid after its loss")
	}
	return nil
}

// tokens: every grant's token is greater than all before, if there are tokens.
func tokens(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 2)
	if err != nil {
		return err
	}
	fenced, last := b.impl.Info().Traits.Fenced, uint64(0)
	for n := range 10 {
		h, err := ps[n%2].soon(ctx, b.lock)
		if err != nil {
			return err
		}
		switch token := h.lease.Token; {
		case !fenced && token != 0:
			return fmt.Errorf("does not claim to be fenced, but gave the token %d", token)
		case fenced && token <= last:
			return fmt.Errorf("gave the token %d after %d", token, last)
		default:
			last = token
		}
		if err := h.release(ctx); err != nil {
			return err
		}
	}
	return nil
}
