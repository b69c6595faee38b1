package gate

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
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

// TestChance: how many runs broke is told of each change, and is one where chance would hardly do it.
func TestChance(t *testing.T) {
	cells := func(broke, of int) (all []checker.Cell) {
		for _, fault := range []string{"f", "g"} {
			all = append(all, checker.Cell{Algorithm: "A", Fault: fault, Outcome: lb.Broken, Share: checker.NewShare(broke, of)})
			broke = of // only the first differs
		}
		return all
	}
	for _, c := range []struct {
		base, head []checker.Cell
		want       string
	}{
		{cells(1, 10), cells(3, 10), ""},
		{cells(1, 10), cells(7, 10), "1 of 10 runs broke → 7 of 10; if nothing had changed, so large a difference would come in 1.98% of cases"},
		{cells(1, 10), cells(9, 10), "1 of 10 runs broke → 9 of 10; if nothing had changed, so large a difference would come in 0.109% of cases"},
		{cells(1, 100), cells(100, 100), "1 of 100 runs broke → 100 of 100; if nothing had changed, so large a difference would come in less than 0.01% of cases"},
		{cells(1, 10), cells(0, 0), ""},
	} {
		got := ""
		for _, ch := range Compare(c.base, c.head) {
			if got += strings.Join(ch.What, "; "); ch.Fault != "f" || ch.Trend != Other {
				t.Errorf("%s under %s: %s", ch.Algorithm, ch.Fault, ch.Trend)
			}
		}
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	once := Compare(cells(1, 1)[:1], []checker.Cell{{Algorithm: "A", Fault: "f", Outcome: lb.Safe, Share: checker.NewShare(0, 1)}})
	if len(once) != 1 || !strings.HasSuffix(strings.Join(once[0].What, "; "), "1 of 1 run broke → 0 of 1; if nothing had changed, so large a difference would come in 100% of cases") {
		t.Errorf("%+v", once)
	}
}
