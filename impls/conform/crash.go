package conform

import (
	"context"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
)

// vanished: the lock of a client that is gone is free again a TTL later. An
// algorithm that expects to be STUCK after kill-holder must really be.
func vanished(how func(*party)) func(context.Context, *bench) error {
	return func(ctx context.Context, b *bench) error {
		ps, err := b.clients(ctx, 2)
		if err != nil {
			return err
		}
		if _, err := ps[0].soon(ctx, b.lock); err != nil {
			return err
		}
		how(ps[0])
		start, bound := time.Now(), b.ttl+expiry
		ctx, cancel := context.WithTimeout(ctx, bound)
		defer cancel()
		h, err := ps[1].acquire(ctx, b.lock)
		stuck := expectsStuck(b.impl.Info())
		switch {
		case stuck && err == nil:
			return fmt.Errorf("expects to be stuck after its holder's death, but was granted after %v", time.Since(start))
		case stuck:
			return nil
		case err != nil:
			return fmt.Errorf("not granted within %v after its holder's death: %w", bound, err)
		}
		return h.release(context.WithoutCancel(ctx))
	}
}

// deadWaiter: one that dies in line does not stand in the way of those behind it for
// longer than a TTL.
func deadWaiter(ctx context.Context, b *bench) error {
	ps, holder, err := b.taken(ctx, 3)
	if err != nil {
		return err
	}
	dying, end := context.WithCancel(ctx)
	defer end()
	_ = ps[1].inBackground(dying, b.lock)
	if err := ps[1].queued(ctx); err != nil {
		return err
	}
	ps[1].hang()
	next := ps[2].inBackground(ctx, b.lock)
	if err := ps[2].queued(ctx); err != nil {
		return err
	}
	if err := holder.release(ctx); err != nil {
		return err
	}
	h, err := next.within(b.ttl + expiry)
	if err != nil {
		return fmt.Errorf("behind one that died in line: %w", err)
	}
	return h.release(ctx)
}

func expectsStuck(info lb.Info) bool {
	return slices.ContainsFunc(info.Expect, func(e lb.Expectation) bool {
		return e.Fault == "kill-holder" && slices.Contains(e.Outcomes, lb.Stuck)
	})
}
