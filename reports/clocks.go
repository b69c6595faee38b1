package reports

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
)

// clocks says how well the events of several clocks are put together, and what that costs, or "" where there
// is one clock.
func (g grid) clocks() string {
	worst, other, runs := 0.0, 0, 0
	for _, c := range g.inOrder(func(c *checker.Cell) bool { return c.ClockErrorMS > 0 }) {
		worst, other, runs = max(worst, c.ClockErrorMS), other+c.IfEven, runs+c.Runs
	}
	if worst == 0 {
		return ""
	}
	s := fmt.Sprintf("The events of several clocks are put together within ±%v: what that leaves open is held against no lock, and the claims told and leased are not judged.",
		time.Duration(worst*1e6).Round(time.Microsecond))
	if other == 0 {
		return s + " If the clocks ran evenly while they were not compared, each run would have the same outcome."
	}
	return s + fmt.Sprintf(" If the clocks ran evenly while they were not compared, %d of %s would have another outcome.", other, english.Count(runs, "run"))
}
