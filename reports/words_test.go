package reports

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

func TestSpan(t *testing.T) {
	for ms, want := range map[float64]string{
		-1: "none", 0: "0 ms", .0421: "42.1 µs", .5: "500 µs", 1: "1.00 ms", 14.25: "14.2 ms", 985.2: "985 ms", 1520: "1.52 s", 61000: "61.0 s",
	} {
		if got := span(ms); got != want {
			t.Errorf("span(%v) = %q, want %q", ms, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("one two three four five", 9, 2)
	if !slices.Equal(got, []string{"one two", "three …"}) && !slices.Equal(got, []string{"one two", "three fo…"}) {
		t.Errorf("%q", got)
	}
}

func TestStandings(t *testing.T) {
	cell := func(a, f string, o lb.Outcome) checker.Cell {
		return checker.Cell{Algorithm: a, Fault: f, Outcome: o}
	}
	g := newGrid([]checker.Cell{
		cell("a", "x", lb.Safe), cell("a", "none", lb.NotAvailable),
		cell("b", "x", lb.Fence), cell("b", "none", lb.Broken),
		cell("c", "x", lb.Inconclusive), cell("c", "none", lb.Check),
		cell("d", "x", lb.Inconclusive),
	}, 0)
	want := map[lb.Outcome]string{lb.Safe: "a", lb.Check: "c", lb.Broken: "b"}
	got := g.standings()
	for _, s := range got {
		if len(s.Locks) != 1 || s.Locks[0].Name != want[s.Outcome] {
			t.Errorf("%s: %v", s.Outcome, s.Locks)
		}
	}
	if len(got) != len(want) || g.Cols[0] != noFault {
		t.Errorf("%v, columns %v", got, g.Cols)
	}
}

// TestBelow: a SAFE cell says how long nobody got the lock, and what hurt somebody comes first.
func TestBelow(t *testing.T) {
	cell := func(o lb.Outcome, how string, out float64) checker.Cell {
		return checker.Cell{Algorithm: "a", Fault: "f", Outcome: o, Mechanism: how, Outage: "nobody got the lock", OutageMS: out, Runs: 1}
	}
	untold := cell(lb.Safe, "", 21300)
	untold.Outage = "" // it was shorter than a lease
	for want, c := range map[string]checker.Cell{
		"out 21s":  cell(lb.Safe, "", 21300),
		"out 5s":   cell(lb.Safe, "", 5000),
		"double":   cell(lb.Broken, lb.DoubleGrant, 21300),
		"overstay": cell(lb.Check, lb.Overstay, 21300),
	} {
		if got := below(&c); got != want {
			t.Errorf("%+v: %q; want %q", c, got, want)
		}
	}
	for _, c := range []checker.Cell{cell(lb.Safe, "", 4999), untold, cell(lb.Inconclusive, "", 21300)} {
		if got := below(&c); got != "" {
			t.Errorf("%+v: %q", c, got)
		}
	}
	if below(nil) != "" {
		t.Error("a cell that is not there says something")
	}
	var text bytes.Buffer
	if err := Matrix(&text, []checker.Cell{cell(lb.Safe, "", 21300)}, 1, false, 80); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"out 21s", "outage: nobody was hurt"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, &text)
		}
	}
}
