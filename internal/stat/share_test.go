package stat

import (
	"math"
	"testing"
)

// TestInterval compares with intervals that others have published or that follow by hand:
// that none of n is hit has a probability of 5% at the end.
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{
		{0, 0, 0, 1},
		{0, 1, 0, 0.95},
		{1, 1, 0.05, 1},
		{0, 2, 0, 0.7764},
		{0, 3, 0, 0.6316},
		{0, 5, 0, 0.4507},
		{0, 26, 0, 0.1088},
		{5, 10, 0.2366, 0.7634},
		{81, 263, 0.2553, 0.3662}, // Newcombe 1998, table I, case (a)
		{15, 148, 0.0624, 0.1605}, // case (b)
		{1, 29, 0.0061, 0.1718},   // case (d)
	} {
		low, high := Interval(c.hits, c.n)
		if math.Abs(low-c.low) > 6e-5 || math.Abs(high-c.high) > 6e-5 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.hits, c.n, low, high, c.low, c.high)
		}
	}
}

// TestRuns: one run less would not do, and no share takes more than one half.
func TestRuns(t *testing.T) {
	for _, width := range []float64{0.9, 0.5, 0.2, 0.1, 0.03} {
		for _, share := range []float64{0, 0.1, 0.5, 1} {
			n := Runs(share, width)
			for _, m := range []int{n, n - 1} {
				if m == 0 {
					continue
				}
				low, high := interval(share, float64(m))
				if narrow := high-low < width && Width(0, m) < width; narrow != (m == n) {
					t.Errorf("share %v, width %v: %d runs, and %d runs give %.4f", share, width, n, m, high-low)
				}
			}
			if n > Runs(0.5, width) {
				t.Errorf("share %v, width %v: %d runs, more than one half takes", share, width, n)
			}
		}
	}
}

// TestNeverTooSure: where no run broke, or all did, the interval leaves out the true share in
// no more than 5% of all cases, whatever that is.
func TestNeverTooSure(t *testing.T) {
	for n := 1; n <= 40; n++ {
		for share := 0.0005; share < 1; share += 0.0005 {
			if _, high := Interval(0, n); high < share && math.Pow(1-share, float64(n)) > 0.05+1e-12 {
				t.Fatalf("none of %d: up to %v, and of %v none of %d comes with %v", n, high, share, n, math.Pow(1-share, float64(n)))
			}
			if low, _ := Interval(n, n); low > share && math.Pow(share, float64(n)) > 0.05+1e-12 {
				t.Fatalf("all of %d: from %v, and of %v all come with %v", n, low, share, math.Pow(share, float64(n)))
			}
		}
	}
}

// ends are all ways in which the runs of a cell end when stop says so: by hits and runs, how many ways there are.
func ends(stop func(hits, n int) bool) map[[2]int]float64 {
	all, live := map[[2]int]float64{}, map[int]float64{0: 1}
	for n := 1; len(live) > 0; n++ {
		next := map[int]float64{}
		for hits, ways := range live {
			next[hits] += ways
			next[hits+1] += ways
		}
		for hits, ways := range next {
			if stop(hits, n) {
				all[[2]int{hits, n}] = ways
				delete(next, hits)
			}
		}
		live = next
	}
	return all
}

// TestCoverage computes, without chance, how often the interval has the true share: what docs/cells.md says of it.
func TestCoverage(t *testing.T) {
	until := func(width float64) func(hits, n int) bool {
		return func(hits, n int) bool { return Width(hits, n) < width || n >= Runs(0.5, width) }
	}
	for name, c := range map[string]struct {
		stop            func(hits, n int) bool
		average, lowest float64 // in percent, as the page has them
	}{
		"until 0.2":   {until(0.2), 95.2, 91},
		"until 0.3":   {until(0.3), 95.3, 91},
		"until 0.5":   {until(0.5), 95.7, 88},
		"twenty runs": {func(_, n int) bool { return n == 20 }, 95.15, 85},
	} {
		const shares = 1000
		sum, lowest, all := 0.0, 1.0, ends(c.stop)
		for i := 1; i < shares; i++ {
			share, covered := float64(i)/shares, 0.0
			for end, ways := range all {
				hits, n := end[0], end[1]
				if low, high := Interval(hits, n); low <= share && share <= high {
					covered += ways * math.Pow(share, float64(hits)) * math.Pow(1-share, float64(n-hits))
				}
			}
			sum, lowest = sum+covered, min(lowest, covered)
		}
		average := 100 * sum / (shares - 1)
		if math.Abs(average-c.average) > 0.05 || math.Round(100*lowest) != c.lowest {
			t.Errorf("%s: %.2f%% on the average and %.1f%% at the worst, want %v%% and %v%%", name, average, 100*lowest, c.average, c.lowest)
		}
	}
}
