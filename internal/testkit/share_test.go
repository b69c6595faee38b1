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
		free, err := room{dir, of, of, nil}.take(t.Context(), int(n))
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
	r := room{t.TempDir(), 2, 2, nil}
	free, err := r.take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.take(ctx, 2); err == nil {
		t.Error("two of two places were taken, and one of them was not free")
	}
	free()
	free, err = r.take(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	free()
}

// TestSure: beyond what is sure, who comes waits until the processors are idle; who is alone does not.
func TestSure(t *testing.T) {
	asked := 0
	r := room{t.TempDir(), 4, 2, func(context.Context) (bool, error) { asked++; return true, nil }}
	for i, want := range []int{0, 0, 1, 2} {
		free, err := r.take(t.Context(), 1)
		if err != nil || asked != want {
			t.Fatalf("place %d: asked %d times whether there is room, want %d: %v", i+1, asked, want, err)
		}
		defer free()
	}
	asked = 0
	r.dir = t.TempDir()
	if free, err := r.take(t.Context(), 4); err != nil || asked != 0 {
		t.Errorf("who has all places was told to wait for an idle machine: %d times, %v", asked, err)
	} else {
		free()
	}
}

// TestSureAgain: who waits until the processors are idle looks again at what others have.
func TestSureAgain(t *testing.T) {
	r := room{t.TempDir(), 4, 1, nil}
	first, err := r.take(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	r.idle = func(context.Context) (bool, error) {
		if asked++; asked == 3 {
			first() // while the machine is as busy as before
		}
		return false, nil
	}
	second, err := r.take(t.Context(), 1)
	if err != nil || asked != 3 {
		t.Fatalf("asked %d times whether there is room, want 3: %v", asked, err)
	}
	second()
}

// TestIdle: work is not idle, and a third of the time is enough.
func TestIdle(t *testing.T) {
	before, err := processors()
	if err != nil {
		Need(t, "/proc/stat", err)
	}
	deadline := time.Now().Add(200 * time.Millisecond)
	for time.Now().Before(deadline) { // works
	}
	after, err := processors()
	if err != nil || after.all <= before.all || after.idle < before.idle || after.all-before.all < after.idle-before.idle+10 {
		t.Errorf("200 ms of work were read as %v, and then %v: %v", before, after, err)
	}
	for idle, want := range map[float64]bool{0: false, 29: false, 31: true, 100: true} {
		if got := (spent{idle: 1000 + idle, all: 5100}).idleSince(spent{idle: 1000, all: 5000}); got != want {
			t.Errorf("%v of 100 idle: enough %v, want %v", idle, got, want)
		}
	}
}

// TestPressed: the kernel's figure is read, and a kernel without one holds nobody back.
func TestPressed(t *testing.T) {
	for text, want := range map[string]float64{
		"some avg10=97.72 avg60=93.59 avg300=85.96 total=1074040526\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n": 0.9772,
		"some avg10=0.00 avg60=1.00 avg300=2.00 total=3\n":                                                             0,
		"":            0,
		"some avg10=": 0,
	} {
		if got := pressedIn(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
