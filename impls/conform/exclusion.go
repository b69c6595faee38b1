package conform

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// exclusion: of eight clients that want one lock, one at a time has it.
func exclusion(ctx context.Context, b *bench) error {
	const clients, sections = 8, 20
	ps, err := b.clients(ctx, clients)
	if err != nil {
		return err
	}
	var inside atomic.Int32
	return together(clients, func(i int) error {
		for n := range sections {
			h, err := ps[i].acquire(ctx, b.lock)
			if err != nil {
				return fmt.Errorf("section %d of %d: %w", n+1, sections, err)
			}
			others := inside.Add(1) - 1
			err = pause(ctx, time.Millisecond)
			inside.Add(-1)
			if others != 0 {
				return fmt.Errorf("%d others held the lock at the same time", others)
			}
			if err := errors.Join(err, h.release(ctx)); err != nil {
				return err
			}
		}
		return nil
	})
}

// hundredLocks: a few clients hold a hundred locks at once.
func hundredLocks(ctx context.Context, b *bench) error {
	const clients, each = 5, 20
	ps, err := b.clients(ctx, clients+1)
	if err != nil {
		return err
	}
	name := func(i, n int) string { return fmt.Sprintf("%s-%d-%d", b.lock, i, n) }
	var all [clients][]*held
	if err := together(clients, func(i int) error {
		for n := range each {
			h, err := ps[i].soon(ctx, name(i, n))
			if err != nil {
				return fmt.Errorf("lock %d of %d: %w", n+1, each, err)
			}
			all[i] = append(all[i], h)
		}
		return nil
	}); err != nil {
		return err
	}
	other := ps[clients]
	for i := range clients {
		for _, n := range []int{0, each - 1} {
			if err := other.refused(ctx, name(i, n)); err != nil {
				return err
			}
		}
	}
	return together(clients, func(i int) (err error) {
		for _, h := range all[i] {
			err = errors.Join(err, h.release(ctx))
		}
		return err
	})
}
