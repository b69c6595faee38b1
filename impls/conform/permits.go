package conform

import (
	"context"
	"fmt"
)

// permits: of a semaphore each of its permits is granted at once, whoever asks, and no more; one that is given back
// is the next one's.
func permits(ctx context.Context, b *bench) error {
	b.unfilled = true
	n := b.impl.Info().Traits.AtOnce()
	ps, err := b.clients(ctx, n+1)
	if err != nil {
		return err
	}
	var all []*held
	for i, p := range ps[:n] {
		h, err := p.try(ctx, b.lock)
		if err != nil {
			return fmt.Errorf("permit %d of %d: %w", i+1, n, err)
		}
		all = append(all, h)
	}
	for _, h := range all {
		if err := ps[n].refused(ctx, b.lock); err != nil {
			return fmt.Errorf("with all %d permits held: %w", n, err)
		}
		if err := h.release(ctx); err != nil {
			return err
		}
		again, err := h.party.soon(ctx, b.lock)
		if err != nil {
			return fmt.Errorf("after one of %d permits was given back: %w", n, err)
		}
		defer func() { _ = again.release(ctx) }()
	}
	return nil
}
