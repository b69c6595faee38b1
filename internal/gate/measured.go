package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockbench/lockbench/internal/cost"
)

// Benches are the [Figures] of benchmarks, of which one at most has measured an algorithm,
// with servers that keep what they confirm on the disk.
type Benches struct {
	Now []*cost.Bench
	// Before is that of before, nil for none.
	Before *cost.Bench
}

// Algorithms implements [Figures].
func (b Benches) Algorithms() (all []string) {
	for _, one := range b.Now {
		for _, a := range one.Plan.Algorithms {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// measures are what the names of figures stand for.
var measures = map[string]cost.Measure{
	"cycle": cost.Cycle, "outage": cost.Outage, "longest": cost.Longest, "p(50)": cost.P50, "p(99)": cost.P99,
	"grants": cost.Grants, "handoff": cost.HandOffs, "fairness": cost.Fair, "barging": cost.Barges,
	"requests": cost.Requests, "bytes": cost.Bytes, "packets": cost.Packets, "wakeups": cost.WakeUps,
}

// Figure implements [Figures].
func (b Benches) Figure(algorithm, figure string, to To) (e Estimate, missing string) {
	m, known := measures[figure]
	i := slices.IndexFunc(b.Now, func(one *cost.Bench) bool { return slices.Contains(one.Plan.Algorithms, algorithm) })
	if !known || i < 0 {
		return Estimate{}, unmeasured
	}
	now := b.Now[i]
	servers := now.Main()
	if !now.Served(algorithm) { // it has none that could keep anything
		servers = cost.Memory
	}
	of, missing := cellOf(now, algorithm, servers, m)
	if missing != "" {
		return Estimate{}, missing
	}
	switch to {
	case Baseline:
		against, missing := cellOf(now, now.Plan.Baseline, servers, m)
		if missing != "" {
			return Estimate{}, fmt.Sprintf("of the baseline, %s, %s", now.Plan.Baseline, missing)
		}
		r := cost.Ratio(of.Figures[m], against.Figures[m])
		if len(r.Values) == 0 {
			return Estimate{}, unmeasured
		}
		return Estimate{r.Median, r.Low, r.High, r.Confidence == 0}, ""
	case Before:
		return since(b.Before, now, of.Key, m)
	}
	return estimate(of, m), ""
}

// since is how a figure stands to that of before, as [Measured] compares them.
func since(before, now *cost.Bench, k cost.Key, m cost.Measure) (e Estimate, missing string) {
	if before == nil {
		return Estimate{}, unmeasured
	}
	d := (&Performance{base: before, head: now}).figure(k, m).Counts().Difference
	switch was := before.Find(k); {
	case d != nil:
		return Estimate{Median: d.Ratio, Low: d.Low, High: d.High}, ""
	case was == nil || was.Figures[m] == nil:
		return Estimate{}, "before, " + whyNot(was)
	}
	return Estimate{}, unmeasured
}

// unmeasured is what there is to say where nobody knows why.
const unmeasured = "it was not measured"

// whyNot says why a figure of a cell is missing, as far as the benchmark knows.
func whyNot(c *cost.Cell) string {
	if c == nil || c.Failed == "" {
		return unmeasured
	}
	return unmeasured + ": " + c.Failed
}

// cellOf is the cell in which the measure is taken; missing says why nothing was.
func cellOf(b *cost.Bench, algorithm string, servers cost.Servers, m cost.Measure) (c *cost.Cell, missing string) {
	key := cost.Contended(algorithm, servers)
	if m == cost.Cycle || m == cost.Outage {
		key = cost.Uncontended(algorithm, servers)
	}
	c = b.Find(key)
	if c == nil || c.Figures[m] == nil && (m != cost.Outage || c.Never == 0) {
		return nil, whyNot(c)
	}
	return c, ""
}

// estimate is a measure of a cell; times are in seconds. A dead holder that kept the lock
// for as long as it was watched may have kept it for ever.
func estimate(c *cost.Cell, m cost.Measure) Estimate {
	never := math.Inf(1)
	f := c.Figures[m]
	if f == nil {
		return Estimate{Median: never, Low: never, High: never}
	}
	unit := 1.0
	if cost.Units[m] == "ns" {
		unit = 1e9
	}
	e := Estimate{f.Median / unit, f.Low / unit, f.High / unit, f.Confidence == 0}
	if m == cost.Outage && c.Never > 0 {
		e.High = never
	}
	return e
}
