package testkit

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestPlaces: no more are taken at once than there are, and who wants all of them gets them
// beside those who want one again and again.
func TestPlaces(t *testing.T) {
	const of = 5
	dir := t.TempDir()
	var now, most atomic.Int64
	var all atomic.Bool
	var wg sync.WaitGroup
	use := func(n int64) {
		free, err := take(t.Context(), dir, int(n), of)
		if err != nil {
			t.Error(err)
			return
		}
		if used := now.Add(n); used > most.Load() {
			most.Store(used)
		}
		time.Sleep(5 * time.Millisecond)
		now.Add(-n)
		free()
	}
	for range 8 {
		wg.Go(func() {
			for start := time.Now(); !all.Load() && time.Since(start) < 20*time.Second; {
				use(1)
			}
		})
	}
	start := time.Now()
	use(of)
	all.Store(true)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("all places were had after %v", took)
	}
	wg.Wait()
	if most.Load() > of || most.Load() < 2 {
		t.Errorf("of %d places %d were taken at once", of, most.Load())
	}
}

// TestTakeEnds with its context, and leaves nothing taken.
func TestTakeEnds(t *testing.T) {
	dir := t.TempDir()
	free, err := take(t.Context(), dir, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := take(ctx, dir, 2, 2); err == nil {
		t.Error("two of two places were taken, and one of them was not free")
	}
	free()
	free, err = take(t.Context(), dir, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	free()
}
