package conform

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// validity: a library that is asked says yes of a lock that is held, and no of one that was given back
// or whose lease is over.
func validity(ctx context.Context, b *bench) error {
	p, err := b.client(ctx)
	if err != nil {
		return err
	}
	if _, ok := lb.ValidatorOf(p.session); !ok {
		return nil
	}
	for _, ends := range []bool{false, true} {
		h, err := p.soon(ctx, b.lock)
		if err != nil {
			return err
		}
		switch holds, err := h.asked(ctx); {
		case err != nil:
			return fmt.Errorf("asked right after the grant: %w", err)
		case !holds:
			return errors.New("asked right after the grant, it says no")
		}
		how := "was given back"
		if ends {
			if tr := b.impl.Info().Traits; !tr.Leased || tr.Renewing {
				return h.release(ctx)
			}
			how = "has ended"
			err = pause(ctx, b.ttl+expiry)
		} else {
			err = h.release(ctx)
		}
		if err != nil {
			return err
		}
		if holds, err := h.asked(ctx); err == nil && holds {
			return errors.New("asked of a lock that " + how + ", it says yes")
		}
	}
	return nil
}

// asked is what the library says of the lock; yes of one that nobody asks.
func (h *held) asked(ctx context.Context) (bool, error) {
	v, ok := lb.ValidatorOf(h.session)
	if !ok {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.prompt)
	defer cancel()
	return v.Valid(ctx, h.req)
}
