package conform

import (
	"context"
	"fmt"
	"slices"
)

// roundTrips: an uncontended acquire and release cost what they are said to
// cost, if that is said. The first of each may make what is made once; the median of the others
// leaves out what runs beside them, such as a heartbeat.
func roundTrips(ctx context.Context, b *bench) error {
	const times = 7
	p, err := b.client(ctx)
	if err != nil {
		return err
	}
	var acquires, releases []int
	for range 1 + times {
		start := len(p.heard())
		h, err := p.soon(ctx, b.lock)
		if err != nil {
			return err
		}
		granted := len(p.heard())
		if err := h.release(ctx); err != nil {
			return err
		}
		acquires, releases = append(acquires, granted-start), append(releases, len(p.heard())-granted)
	}
	got := RoundTrips{median(acquires[1:]), median(releases[1:])}
	b.note = fmt.Sprintf("an acquire and a release cost %d+%d round trips", got.Acquire, got.Release)
	if got != b.trips && b.trips != (RoundTrips{}) {
		return fmt.Errorf("%s (of %v and %v), want %d+%d", b.note, acquires, releases, b.trips.Acquire, b.trips.Release)
	}
	return nil
}

func median(ns []int) int {
	slices.Sort(ns)
	return ns[len(ns)/2]
}
