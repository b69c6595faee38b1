package stat

import "github.com/aclements/go-moremath/stats"

// Chance is how likely it is that two samples of one share differ at least as much as a hits of n and b of m do, or
// rather: as few of all ways to deal the same hits out to the two are as unlikely. It is R. A. Fisher's exact test
// with both sides; 1 where one of the samples is empty.
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
