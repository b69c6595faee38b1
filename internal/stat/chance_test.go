package stat

import (
	"math"
	"testing"
)

// TestChance compares with what others have published or what follows by hand.
func TestChance(t *testing.T) {
	for _, c := range []struct {
		a, n, b, m int
		p          float64
	}{
		{3, 4, 1, 4, 34. / 70}, // the lady who tastes tea (Fisher, The Design of Experiments, 1935), both sides
		{4, 4, 0, 4, 2. / 70},
		{0, 1, 1, 1, 1}, // of one run each nothing is known
		{0, 3, 3, 3, 0.1},
		{0, 10, 10, 10, 2. / 184756},
		{1, 10, 11, 14, 0.0027594562},
		{5, 10, 5, 10, 1},
		{0, 10, 0, 20, 1},
		{3, 3, 0, 0, 1},
	} {
		for _, p := range []float64{Chance(c.a, c.n, c.b, c.m), Chance(c.b, c.m, c.a, c.n), Chance(c.n-c.a, c.n, c.m-c.b, c.m)} {
			if math.Abs(p-c.p) > 1e-9 {
				t.Errorf("%d of %d and %d of %d: %.10f, want %.10f", c.a, c.n, c.b, c.m, p, c.p)
			}
		}
	}
}

// TestChanceCries: of samples of one share no more than 5% have a chance of 5% or less, whatever it is.
func TestChanceCries(t *testing.T) {
	const n, m = 10, 20
	choose := func(n, k int) float64 {
		g := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
		return math.Exp(g(n) - g(k) - g(n-k))
	}
	for share := 0.01; share < 1; share += 0.01 {
		cries := 0.0
		for a := range n + 1 {
			for b := range m + 1 {
				if Chance(a, n, b, m) <= 0.05 {
					cries += choose(n, a) * choose(m, b) * math.Pow(share, float64(a+b)) * math.Pow(1-share, float64(n+m-a-b))
				}
			}
		}
		if cries > 0.05 {
			t.Errorf("of a share of %.2f, %.3f", share, cries)
		}
	}
}
