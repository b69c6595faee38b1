package gate

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
)

// exploredAs is an exploration whose orders with one expiry came to these outcomes.
func exploredAs(lock string, came map[lb.Outcome]int) *rundir.Explored {
	e := &rundir.Explored{Dir: "d"}
	e.Plan.Algorithm = lock
	e.Levels = []*rundir.ExploredLevel{{Orders: 10, Share: 1}}
	expiry := rundir.Class{{What: "expiry", Times: 1}}
	e.Classes = []*rundir.ExploredClass{{Class: expiry, Orders: 10, Outcomes: came}}
	if came[lb.Broken] > 0 {
		e.Classes[0].Again = []lb.Outcome{lb.Broken}
		e.Violations = []rundir.ExploredOrder{{Class: expiry, Outcome: lb.Broken, Reason: "double grant: both", Undeclared: true, Dir: "violations/1"}}
	}
	return e
}

// TestExplored: what orders may come to, and must.
func TestExplored(t *testing.T) {
	const requires, finds, declares = "{run: {algorithm: mine}, require: CHECK}", "{run: {algorithm: [other, mi*]}, finds: [BROKEN]}", "{run: {algorithm: mine}}"
	broken, check := exploredAs("mine", map[lb.Outcome]int{lb.Safe: 5, lb.Broken: 5}), exploredAs("mine", map[lb.Outcome]int{lb.Safe: 5, lb.Check: 5})
	cut := exploredAs("mine", map[lb.Outcome]int{lb.Safe: 10})
	cut.Interrupted = true
	doubted := exploredAs("mine", map[lb.Outcome]int{lb.Safe: 9, lb.Broken: 1})
	doubted.Classes[0].Again, doubted.Violations, doubted.Doubts = nil, nil, []string{"BROKEN (once)"}
	part := exploredAs("mine", map[lb.Outcome]int{lb.Safe: 10})
	part.Levels[0].Share = .5
	strayed := exploredAs("mine", map[lb.Outcome]int{lb.Safe: 6000})
	strayed.Levels[0] = &rundir.ExploredLevel{Orders: 6000, Share: .5, Astray: rundir.MostAstray + 1} // of so many they spoil nothing
	more := exploredAs("mine", map[lb.Outcome]int{lb.Safe: 9, lb.Check: 1})
	more.Classes[0].Declared, more.Classes[0].Undeclared = "not declared (none: SAFE)", true
	for _, c := range []struct {
		entry string
		e     *rundir.Explored
		want  Failure
		says  string
	}{
		{requires, check, "", ""},
		{requires, broken, Broken, "5 of 10 orders with 1 expiry"},
		{requires, cut, Undecided, "it was interrupted"},
		{requires, doubted, Undecided, "did not do so again"},
		{finds, doubted, Undecided, "did not do so again"},
		{requires, part, Undecided, "not all were walked: a larger budget"},
		{requires, strayed, Undecided, "not all were walked: given up after 51 orders"},
		{declares, more, Broken, "not declared (none: SAFE)"},
		{finds, broken, "", ""},
		{finds, check, Blind, "no order came to BROKEN"},
		{declares, check, "", ""},
		{declares, broken, Broken, "double grant: both, with 1 expiry"},
		{"{run: {algorithm: another}}", check, NoData, "none of it was explored"},
	} {
		conf, err := Parse("f", []byte("explore: ["+c.entry+"]"))
		if err != nil {
			t.Fatal(err)
		}
		found := conf.Explored([]*rundir.Explored{c.e}, func(dir string) string { return "again " + dir })
		switch {
		case c.want == "" && len(found) == 0:
		case len(found) != 1 || found[0].Kind != c.want || !strings.Contains(found[0].Says, c.says):
			t.Errorf("%s: %+v, want %s: %s", c.entry, found, c.want, c.says)
		case c.want == Broken && c.e != more && found[0].Again != "again d/violations/1":
			t.Errorf("%s: %q", c.entry, found[0].Again)
		}
	}
}

// TestExploreKey: what makes no sense is refused with its line.
func TestExploreKey(t *testing.T) {
	for entry, want := range map[string]string{
		"{require: CHECK}":                                           "which lock",
		"{run: {algorithm: a}, require: BROKEN}":                     "none of SAFE",
		"{run: {algorithm: a}, finds: [SAFE]}":                       "none of CHECK",
		"{run: {algorithm: a}, require: CHECK, finds: [STUCK]}":      "either require",
		"{run: {algorithm: redis-a}}, {run: {algorithm: 'redis-*'}}": "redis-a is named by an entry before",
	} {
		if _, err := Parse("f", []byte("require: FENCE\nexplore: ["+entry+"]")); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "f:2") {
			t.Errorf("%s: %v", entry, err)
		}
	}
}
