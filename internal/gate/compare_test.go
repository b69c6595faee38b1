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
