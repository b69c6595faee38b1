package reports

import (
	"math"

	"github.com/lockbench/lockbench/internal/cost"
)

// price is what one lock costs, in the figures that decide. Those of a lock that has
// servers are with what they confirm on the disk, so that all are alike.
type price struct {
	Known bool
	// Cycle is acquire and release, when nobody else wants it; HandOff and Late the median
	// and the 99th percentile of a hand-off among [cost.Contenders] clients; Requests are
	// those a grant there.
	Cycle, HandOff, Late, Requests amount
}

// amount is a figure with its interval.
type amount struct{ Text, Interval string }

func priceOf(b *cost.Bench, lock string) price {
	if b == nil {
		return price{}
	}
	s := comparable(b, lock)
	alone, crowd := cost.Uncontended(lock, s), cost.Contended(lock, s)
	p := price{Cycle: timeOf(b.Figure(alone, cost.Cycle)), HandOff: timeOf(b.Figure(crowd, cost.P50)),
		Late: timeOf(b.Figure(crowd, cost.P99)), Requests: numberOf(b.Figure(crowd, cost.Requests))}
	p.Known = p.Cycle.Text != absent || p.HandOff.Text != absent
	return p
}

// comparable are the servers in which locks are compared: with a disk, where it has any.
func comparable(b *cost.Bench, lock string) cost.Servers {
	if b.Served(lock) {
		return b.Main()
	}
	return cost.Memory
}

// handOff is the median time of one, in ns; infinite where it is not known.
func handOff(b *cost.Bench, lock string) float64 {
	if b != nil {
		if f := b.Figure(cost.Contended(lock, comparable(b, lock)), cost.P50); f != nil {
			return f.Median
		}
	}
	return math.Inf(1)
}

func timeOf(f *cost.Figure) amount {
	return amountOf(f, duration(f), func(v float64) string { return span(v / 1e6) })
}

func numberOf(f *cost.Figure) amount {
	return amountOf(f, number3(f), func(v float64) string { return number3(&cost.Figure{Summary: cost.Summary{Median: v}}) })
}

func amountOf(f *cost.Figure, text string, show func(float64) string) amount {
	a := amount{Text: text}
	if f != nil && len(f.Values) > 1 && f.High > f.Low {
		a.Interval = show(f.Low) + "–" + show(f.High)
	}
	return a
}
