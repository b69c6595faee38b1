package labtest

import (
	"slices"
	"testing"
	"time"
)

// Contestant is something that takes time, which [Compare] measures.
type Contestant struct {
	Name string
	Do   func() error
}

// Compare measures the contestants in turn, a few calls each, as long as the benchmark
// goes on. It reports the median time of the first (ns/NAME), and of each other one the
// median of its ratio to the first in the same turn (NAME/FIRST): what makes the
// machine slow for a while does so to all of them, and a ratio does not show it.
func Compare(b *testing.B, contestants ...Contestant) {
	b.Helper()
	const calls = 20 // in a turn, of each
	times := make([][]float64, len(contestants))
	for turn := 0; b.Loop(); turn++ {
		for i := range contestants {
			i = (i + turn) % len(contestants) // nobody always comes first
			start := time.Now()
			for range calls {
				if err := contestants[i].Do(); err != nil {
					b.Fatalf("%s: %v", contestants[i].Name, err)
				}
			}
			times[i] = append(times[i], float64(time.Since(start))/calls)
		}
	}
	first := contestants[0].Name
	b.ReportMetric(median(times[0]), "ns/"+first)
	for i, c := range contestants[1:] {
		b.ReportMetric(ratio(times[i+1], times[0]), c.Name+"/"+first)
	}
	b.ReportMetric(0, "ns/op") // of a turn, which is nobody's
}

// ratio is the median of a to b, turn by turn.
func ratio(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for turn := range a {
		ratios[turn] = a[turn] / b[turn]
	}
	return median(ratios)
}

func median(of []float64) float64 {
	of = slices.Clone(of)
	slices.Sort(of)
	return of[len(of)/2]
}
