// Package stat says how sure one can be of a share that was seen in some runs.
package stat

import "math"

// z is the quantile of the normal distribution for 95%, both sides together.
const z = 1.959963984540054

// Wilson is the 95% interval of a share of which hits of n were seen, both from 0 to 1. It
// is the score interval of E. B. Wilson (Probable inference, the law of succession, and
// statistical inference, JASA 22, 1927), which stays honest for few runs and for shares
// near 0 and 1 (Brown, Cai, DasGupta: Interval estimation for a binomial proportion,
// Statistical Science 16, 2001): 0 of 1 is up to 79%. Of no run nothing is known: 0 to 1.
func Wilson(hits, n int) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	return wilson(float64(hits)/float64(n), float64(n))
}

func wilson(share, n float64) (low, high float64) {
	mid := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	low, high = max(0, mid-half), min(1, mid+half)
	if share == 0 { // exactly, whatever rounding makes of it
		low = 0
	}
	if share == 1 {
		high = 1
	}
	return low, high
}

// Width is that of [Wilson].
func Width(hits, n int) float64 {
	low, high := Wilson(hits, n)
	return high - low
}

// Runs is how many runs with this share, from 0 to 1, make an interval narrower than
// width, which must be above 0. No share takes more than ½ does.
func Runs(share, width float64) int {
	narrow := func(n int) bool {
		low, high := wilson(share, float64(n))
		return high-low < width
	}
	most := 1
	for !narrow(most) && most < 1<<30 {
		most *= 2
	}
	least := most / 2 // too few, or 0
	for most-least > 1 {
		if middle := (least + most) / 2; narrow(middle) {
			most = middle
		} else {
			least = middle
		}
	}
	return most
}
