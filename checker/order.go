package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
)

// judgeOrder measures fairness. It is never a violation: a lock may be unfair.
//
// A FIFO inversion is a pair of grants of one lock of which the later request was
// granted first. Requests are ordered by their calls, which is when they left and
// not when they arrived: a few inversions say nothing.
func judgeOrder(r *run) Layer {
	inversions, grants := 0, 0
	var longest time.Duration
	share := map[int32]float64{}
	for _, acqs := range r.ByLock() {
		var granted []*acquisition
		for _, i := range acqs {
			a := &r.Acqs[i]
			if !a.Asked {
				continue
			}
			longest = max(longest, r.Waited(i).Sub(a.Call))
			share[a.Client] += 0
			if a.Granted() {
				share[a.Client]++
				granted = append(granted, a)
			}
		}
		grants += len(granted)
		inversions += fifoInversions(granted)
	}
	if grants == 0 {
		return Layer{Verdict: Vacuous, Summary: "nothing was granted"}
	}
	return findings{}.layer(Valid, "%s, %s of the request order, Jain's index %.3f over %s, longest wait %s%s",
		english.Count(grants, "grant"), english.Count(inversions, "inversion"), jain(share), english.Count(len(share), "client"), seconds(longest), r.cost(grants))
}

// cost says what a grant cost the lock service and its waiters: the herd shows
// here. Histories that do not record it get no word.
func (r *run) cost(grants int) string {
	if r.Requests == 0 {
		return ""
	}
	per := func(n int) float64 { return float64(n) / float64(grants) }
	return fmt.Sprintf(", %.1f requests per grant, %.1f waiters woken and %.1f polls per grant", per(r.Requests), per(r.Wakes), per(r.Polls))
}

// jain is Jain's fairness index: 1 when all have the same, 1/n when one has all.
func jain(share map[int32]float64) float64 {
	var sum, squares float64
	for _, x := range share {
		sum += x
		squares += x * x
	}
	return sum * sum / (float64(len(share)) * squares)
}

// fifoInversions counts the pairs that were asked for in one order and granted in
// the other, by merging (n log n).
func fifoInversions(grants []*acquisition) int {
	slices.SortStableFunc(grants, func(a, b *acquisition) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Return, b.Return))
	})
	times := make([]lb.Instant, len(grants))
	for i, a := range grants {
		times[i] = a.Return
	}
	return sortCounting(times, make([]lb.Instant, len(times)))
}

// sortCounting sorts x by merging and returns how many pairs were out of order.
func sortCounting(x, scratch []lb.Instant) int {
	if len(x) < 2 {
		return 0
	}
	mid := len(x) / 2
	n := sortCounting(x[:mid], scratch[:mid]) + sortCounting(x[mid:], scratch[mid:])
	copy(scratch, x)
	left, right := scratch[:mid], scratch[mid:]
	for i := range x {
		if len(right) == 0 || len(left) > 0 && left[0] <= right[0] {
			x[i], left = left[0], left[1:]
			continue
		}
		n += len(left)
		x[i], right = right[0], right[1:]
	}
	return n
}
