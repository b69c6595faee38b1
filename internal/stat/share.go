// Package stat says how sure one can be of a share that was seen in some runs.
package stat

import "math"

// z is the quantile of the normal distribution for 95%, both sides together.
const z = 1.959963984540054

// Interval is the 95% interval of a share of which hits of n were seen, both from 0 to 1. It
// is the score interval of E. B. Wilson (Probable inference, the law of succession, and
// statistical inference, JASA 22, 1927), but where none or all were hit: there it says too
// little (Brown, Cai, DasGupta: Interval estimation for a binomial proportion, Statistical
// Science 16, 2001), and the exact bound stands, which is one-sided, since nothing lies beyond
// the other end. A share of which none of n is hit with a probability of 5% is
// 1-0.05^(1/n): 95% after one, 78% after two, 63% after three. Of none nothing is known: 0 to 1.
// In how many cells it has the true share, on the average and at the worst share, stands in docs/cells.md.
func Interval(hits, n int) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	return interval(float64(hits)/float64(n), float64(n))
}

func interval(share, n float64) (low, high float64) {
	switch end := math.Pow(0.05, 1/n); share {
	case 0:
		return 0, 1 - end
	case 1:
		return end, 1
	}
	mid := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return max(0, mid-half), min(1, mid+half)
}

// Width is that of [Interval].
func Width(hits, n int) float64 {
	low, high := Interval(hits, n)
	return high - low
}

// Runs is how many runs with this share, from 0 to 1, make an interval narrower than
// width, which must be above 0. No share takes more than ½ does, and none less than 0 and 1 do.
func Runs(share, width float64) int {
	narrow := func(n int) bool {
		low, high := interval(share, float64(n))
		return high-low < width && Width(0, n) < width
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
