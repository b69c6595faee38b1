package checker

import lb "github.com/lockbench/lockbench"

// CellOf is [Merge] by the expectation that the runs' own plans carry, so that no list of
// algorithms is needed.
func CellOf(runs []Result) Cell { return Merge(runs, declared(runs)) }

// DecisiveOf is [Decisive] by the same; there must be a run.
func DecisiveOf(runs []Result) int { return Decisive(runs, declared(runs)) }

func declared(runs []Result) (info lb.Info) {
	for _, r := range runs {
		info.Name = r.Plan.Algorithm
		if e := r.Plan.Expect; e != nil {
			info.Expect = []lb.Expectation{*e}
		}
	}
	return info
}
