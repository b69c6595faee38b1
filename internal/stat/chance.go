package stat

import "github.com/aclements/go-moremath/stats"

// Chance is how likely it is that chance alone makes samples of one share differ as a hits of n and b of m do, or more:
// of all ways to deal these hits out to the two, those that are no likelier than this one. It is R. A. Fisher's exact
// test, of both sides; 1 where one of the samples is empty.
func Chance(a, n, b, m int) (p float64) {
	if n <= 0 || m <= 0 {
		return 1
	}
	dealt := stats.HypergeometicDist{N: n + m, K: a + b, Draws: n}
	seen := dealt.PMF(float64(a))
	for k := max(0, a+b-m); k <= min(n, a+b); k++ {
		if way := dealt.PMF(float64(k)); way <= seen*(1+1e-9) { // those that are as unlikely are so but for rounding
			p += way
		}
	}
	return min(p, 1)
}
