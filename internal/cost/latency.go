package cost

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The latencies that can be told apart: from 10 ns to a minute, to three digits.
const (
	leastLatency   = 10
	longestLatency = int64(time.Minute)
	latencyDigits  = 3
)

// Latencies are many of them, in little room. Each client has its own; they are merged
// when all is done.
type Latencies struct{ h *hdrhistogram.Histogram }

// NewLatencies has none.
func NewLatencies() *Latencies {
	return &Latencies{hdrhistogram.New(leastLatency, longestLatency, latencyDigits)}
}

// Add records one; what is longer than a minute counts as that.
func (l *Latencies) Add(d time.Duration) {
	_ = l.h.RecordValue(min(max(int64(d), 0), longestLatency)) // only a value out of range fails
}

// Merge adds all that others have recorded.
func (l *Latencies) Merge(others ...*Latencies) {
	for _, o := range others {
		l.h.Merge(o.h)
	}
}

// Len is how many there are.
func (l *Latencies) Len() int { return int(l.h.TotalCount()) }

// Mean of them, 0 if there are none.
func (l *Latencies) Mean() time.Duration {
	if l.Len() == 0 {
		return 0
	}
	return time.Duration(l.h.Mean())
}

// At is the latency that the share q of all does not exceed, q from 0 to 1; 0 if there
// are none.
func (l *Latencies) At(q float64) time.Duration {
	if l.Len() == 0 {
		return 0
	}
	return time.Duration(l.h.ValueAtQuantile(100 * q))
}

// Quantile is one point of a distribution.
type Quantile struct {
	Q  float64       `json:"q"`
	At time.Duration `json:"ns"`
}

// shown are the quantiles that are kept.
var shown = []float64{0, .01, .05, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .98, .99, .995, .999, .9999, 1}

// Quantiles are the points of a curve, from the shortest to the longest; none that lie
// closer to the end than there are values, save for the end itself.
func (l *Latencies) Quantiles() (points []Quantile) {
	n := float64(l.Len())
	for _, q := range shown {
		if n == 0 || q < 1 && (1-q)*n < 1 {
			continue
		}
		points = append(points, Quantile{q, l.At(q)})
	}
	return points
}

// At is the quantile q of a curve, or the nearest above; 0 where there is none.
func At(curve []Quantile, q float64) time.Duration {
	for _, p := range curve {
		if p.Q >= q {
			return p.At
		}
	}
	return 0
}
