package gate

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

func TestCompare(t *testing.T) {
	cell := func(o lb.Outcome, reason, promise string) []checker.Cell {
		how, _, led := strings.Cut(reason, ": ")
		if !led {
			how = ""
		}
		return []checker.Cell{{Algorithm: "A", Fault: "f", Outcome: o, Mechanism: how, Reason: reason, Promise: promise}}
	}
	safe, open := cell(lb.Safe, "", "kept"), cell(lb.Inconclusive, "too few", "open")
	never := cell(lb.Inconclusive, rundir.NotRun, "open")
	late, double := cell(lb.Check, "overstay: late", "kept"), cell(lb.Check, "double grant: two", "kept")
	for _, c := range []struct {
		name       string
		base, head []checker.Cell
		want       Trend
	}{
		{"nothing", safe, safe, ""},
		{"another reason", late, cell(lb.Check, "overstay: later", "kept"), ""},
		{"outcome", safe, late, Worse},
		{"outcome", late, safe, Better},
		{"stuck", cell(lb.Fence, "overstay: late", "kept"), cell(lb.Stuck, "ghost: taken", "kept"), Worse},
		{"mechanism", late, double, Worse},
		{"mechanism", double, late, Better},
		{"mechanism", late, cell(lb.Check, "early release: gave it back", "kept"), Other},
		{"promise", late, cell(lb.Check, "overstay: late", "broken"), Worse},
		{"promise", late, cell(lb.Check, "overstay: late", ""), Other},
		{"a known break that is gone", late, cell(lb.Safe, "", "broken"), Worse},
		{"better, and worse", cell(lb.Broken, "overstay: late", "kept"), double, Worse},
		{"undecided", safe, open, Lost},
		{"decided", open, safe, Other},
		{"still undecided", open, cell(lb.Inconclusive, "starved", "open"), ""},
		{"a known break where nothing had been proved", open, double, Other},
		{"a break that is not proved", late, cell(lb.Inconclusive, "double grant: two", "kept"), Lost},
		{"a promise broken where nothing had been proved", open, cell(lb.Broken, "double grant: two", "broken"), Worse},
		{"never run, and then", never, cell(lb.Broken, "double grant: two", "broken"), New},
		{"never run", never, cell(lb.Inconclusive, rundir.Elsewhere, ""), ""},
		{"not run any more", safe, never, Lost},
		{"no meaning", safe, cell(lb.NotAvailable, "no network", ""), Lost},
		{"gone", safe, nil, Gone},
		{"new", nil, safe, New},
	} {
		got := Trend("")
		if changes := Compare(c.base, c.head); len(changes) > 0 {
			got = changes[0].Trend
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestChance: how many runs had the worse outcome is told of each change, and is one where chance would hardly do it.
func TestChance(t *testing.T) {
	cells := func(outcome lb.Outcome, runs map[lb.Outcome]int) []checker.Cell {
		same := checker.Cell{Algorithm: "A", Fault: "g", Outcome: lb.Safe, Outcomes: map[lb.Outcome]int{lb.Safe: 10}}
		return []checker.Cell{same, {Algorithm: "A", Fault: "f", Outcome: outcome, Outcomes: runs}}
	}
	double := cells(lb.Broken, map[lb.Outcome]int{lb.Broken: 2})
	double[1].Mechanism = lb.DoubleGrant
	const chance = "; if nothing had changed, so large a difference would come in "
	for _, c := range []struct {
		base, head []checker.Cell
		want       string
	}{
		{cells(lb.Broken, map[lb.Outcome]int{lb.Broken: 1, lb.Safe: 9}), cells(lb.Broken, map[lb.Outcome]int{lb.Broken: 3, lb.Safe: 7}), ""},
		{cells(lb.Broken, map[lb.Outcome]int{lb.Broken: 1, lb.Safe: 9}), cells(lb.Broken, map[lb.Outcome]int{lb.Broken: 7, lb.Check: 3}), "BROKEN in 1 of 10 runs → 7 of 10" + chance + "1.98% of cases"},
		{cells(lb.Fence, map[lb.Outcome]int{lb.Fence: 1, lb.Safe: 99}), cells(lb.Fence, map[lb.Outcome]int{lb.Fence: 100}), "FENCE or worse in 1 of 100 runs → 100 of 100" + chance + "less than 0.01% of cases"},
		{cells(lb.Broken, map[lb.Outcome]int{lb.Broken: 10}), cells(lb.Check, map[lb.Outcome]int{lb.Check: 10, lb.Inconclusive: 3}), "BROKEN → CHECK; BROKEN in 10 of 10 runs → 0 of 10" + chance + "less than 0.01% of cases"},
		{cells(lb.Safe, map[lb.Outcome]int{lb.Safe: 1}), cells(lb.Check, map[lb.Outcome]int{lb.Check: 1}), "SAFE → CHECK; CHECK or worse in 0 of 1 run → 1 of 1" + chance + "100% of cases"},
		{cells(lb.Broken, map[lb.Outcome]int{lb.Broken: 1}), cells(lb.Inconclusive, map[lb.Outcome]int{lb.Inconclusive: 1}), "BROKEN → INCONCLUSIVE"},
		{cells(lb.Inconclusive, map[lb.Outcome]int{lb.Safe: 1}), cells(lb.Safe, map[lb.Outcome]int{lb.Safe: 1}), "INCONCLUSIVE → SAFE"},
		{cells(lb.Broken, map[lb.Outcome]int{lb.Broken: 2}), double, "none → double grant"},
		{cells(lb.Safe, nil), cells(lb.Check, nil), "SAFE → CHECK"}, // of an older lockbench
	} {
		got := ""
		for _, ch := range Compare(c.base, c.head) {
			if got += strings.Join(ch.What, "; "); ch.Fault != "f" {
				t.Errorf("%s under %s: %s", ch.Algorithm, ch.Fault, ch.Trend)
			}
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
