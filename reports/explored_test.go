package reports

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// anExpiry is what goes wrong in orders with one expiry.
var anExpiry = rundir.Class{{What: "expiry", Times: 1}}

// writeExplored writes the exploration of a lock that some orders break, with one of them, or of
// one that none does.
func writeExplored(t *testing.T, dir, lock string, breaks bool) {
	t.Helper()
	file := map[string]any{"schema": history.Schema, "plan": map[string]any{"algorithm": lock, "topology": "redis"}, "within": "2 clients, at most one expiry",
		"seconds": 61.2, "digest": "28daf58f2e208ed3",
		"levels":  []any{map[string]any{"faults": 0, "orders": 20, "share": 1}, map[string]any{"faults": 1, "orders": 1054, "share": 1}},
		"classes": []any{map[string]any{"class": rundir.Class{}, "orders": 1074, "outcomes": map[string]int{"SAFE": 1074}, "declared": "as declared (none: SAFE)"}}}
	if breaks {
		h, f := lateDelete()
		order := rundir.ViolationOf(1, anExpiry)
		story := []string{"c1 sends set: c1 is granted the lock", "a lease's time passes in which nobody runs, on every clock", "c1 sends del"}
		file["levels"] = []any{map[string]any{"faults": 1, "orders": 1000, "share": 0.0417, "broken": 12, "sampled": 250, "drawn": 300, "shown": map[string]any{"2": 0.63, "3": 0.04}, "met": 1700, "astray": 3, "why": "a server was slow"}}
		file["classes"] = []any{map[string]any{"class": anExpiry, "orders": 1000, "outcomes": map[string]int{"SAFE": 988, "BROKEN": 12}, "again": []string{"BROKEN"}}}
		file["violations"] = []any{map[string]any{"class": anExpiry, "outcome": "BROKEN", "mechanism": f.Mechanism, "reason": f.Mechanism + ": " + f.Sentence, "story": story, "dir": order}}
		plan := history.Plan{Algorithm: lock, Fault: "none", Order: json.RawMessage(`[{}]`), About: &history.About{Program: "lockbench", Story: story, Wrong: "1 expiry"}}
		at := filepath.Join(dir, filepath.FromSlash(order))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		r, err := rundir.CreateOrder(at, plan, h, struct {
			Schema int `json:"schema"`
		}{history.Schema})
		if err != nil {
			t.Fatal(err)
		}
		res := checker.Result{Plan: r.Plan, Outcome: lb.Broken, Mechanism: f.Mechanism, Reason: f.Mechanism + ": " + f.Sentence, OutageMS: -1, Layers: []checker.Layer{{Name: checker.LayerGrant, Verdict: checker.Invalid, Findings: []checker.Finding{f}, Count: 1}}}
		if err := r.SaveResult(res); err != nil {
			t.Fatal(err)
		}
	}
	if err := rundir.SaveExplored(dir, file); err != nil {
		t.Fatal(err)
	}
}

// TestExploredText: the verdict is one sentence, with what is left open.
func TestExploredText(t *testing.T) {
	for breaks, wants := range map[bool][]string{
		false: {"  nothing  1,074 orders: 1,074 SAFE  as declared (none: SAFE)\n", "none of these 1,074 orders breaks it: every order of 2 clients, at most one expiry."},
		true: {"BROKEN by 12 of 1,000 orders, as it declares; the shortest:\n   1. c1 sends set", "again:  again DIR/violations/1-1-expiry\n",
			"1,000 orders: 12 BROKEN, 988 SAFE", "the budget sufficed for about 4.2% of all orders, and for 250 beyond these", "3 of 1,003 did not go as planned, and are not counted: a server was slow",
			"1,700 orders beside these came to a moment that was walked on from before"},
	} {
		dir := t.TempDir()
		writeExplored(t, dir, "mine", breaks)
		e, err := rundir.OpenExplored(dir)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Explored(&b, e, 120, func(at string) string { return "again " + at }); err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(b.String(), dir, "DIR")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}

// TestPercent: what is not nothing, and not all, never reads as that.
func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0%", 1e-9: "less than 0.1%", 0.042: "4.2%", 0.34: "34%", 0.999: "99%", 1: "100%"} {
		if got := Percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
	for n, want := range map[int]string{7: "7", 999: "999", 1074: "1,074", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// TestExploredPages: a matrix, an exploration and an order have their pages.
func TestExploredPages(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "m")
	writeMatrix(t, m, sampleCells(), 1)
	writeExplored(t, rundir.ExploredOf(m, "redis-setpx-lua"), "redis-setpx-lua", false)
	writeExplored(t, rundir.ExploredOf(m, "redis-setpx-del"), "redis-setpx-del", true)
	alone := filepath.Join(dir, "alone")
	writeExplored(t, alone, "redis-setpx-del", true)
	order := filepath.Join(alone, "violations", "1-1-expiry")
	for at, wants := range map[string][]string{
		m: {`<small class="orders">1,074 orders: none breaks it</small>`, `<small class="orders hot">12 of 1,000 orders break it</small>`,
			`href="explored/redis-setpx-del/violations/1-1-expiry/report.html"`, "none of these 1,074 orders breaks it: every order of 2 clients"},
		alone: {`href="violations/1-1-expiry/report.html"`, "<li>c1 sends del</li>"},
		order: {"<b>1 expiry</b>", "<li>c1 sends del</li>", fmt.Sprintf("--replay %s", order)},
	} {
		file, err := HTML(at)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s has no %q", at, want)
			}
		}
	}
}

// TestExploredSays: what an order came to once and not again is not told as what the lock does, and outcomes
// are told apart.
func TestExploredSays(t *testing.T) {
	class := func(of rundir.Class, came map[lb.Outcome]int, again ...lb.Outcome) *rundir.ExploredClass {
		return &rundir.ExploredClass{Class: of, Orders: 100, Outcomes: came, Again: again}
	}
	for want, e := range map[string]rundir.Found{
		"BROKEN by 60, STUCK by 10 of 200 orders": {Classes: []*rundir.ExploredClass{
			class(anExpiry, map[lb.Outcome]int{lb.Broken: 60}, lb.Broken), class(rundir.Class{{What: "crash", Times: 1}}, map[lb.Outcome]int{lb.Stuck: 10}, lb.Stuck)}},
		"FENCE by 12 of 200 orders": {Doubts: []string{"BROKEN (once)"}, Classes: []*rundir.ExploredClass{
			class(nil, map[lb.Outcome]int{lb.Broken: 1}), class(anExpiry, map[lb.Outcome]int{lb.Fence: 12}, lb.Fence)}},
		"nothing is proven": {Doubts: []string{"BROKEN (once)"}, Classes: []*rundir.ExploredClass{class(nil, map[lb.Outcome]int{lb.Broken: 1})}},
		"one order, performed again: BROKEN 19 times, SAFE 1 time": {Replays: map[lb.Outcome]int{lb.Broken: 19, lb.Safe: 1}},
	} {
		for range 2 {
			e.Levels = append(e.Levels, &rundir.ExploredLevel{Orders: 100, Share: 1})
		}
		if got := exploredSays(&rundir.Explored{Found: e}); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAbout: an estimate says so, and what is under a bound does not say it twice.
func TestAbout(t *testing.T) {
	for share, want := range map[float64]string{.0004: "less than 0.1%", .042: "about 4.2%", .5: "about 50%"} {
		if got := about(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}

// TestUnwalked: a bound is rounded down, and a level that was given up asks for no larger budget.
func TestUnwalked(t *testing.T) {
	for want, l := range map[string]*rundir.ExploredLevel{
		"with 1 fault the budget sufficed for about 30% of all orders, and for 30 beyond these, drawn by the seed; a larger --budget walks more; whatever takes two moves that come each before a certain other, the 40 orders that were drawn have shown with a probability of at least 98%, and what takes three with no probability worth telling": {
			Faults: 1, Share: .3, Sampled: 30, Drawn: 40, Shown: map[int]float64{2: .986, 3: .0004}},
		"with 1 fault it was given up after 51 orders that did not go as planned, at about 30% of all orders":             {Faults: 1, Share: .3, Astray: 51},
		"with 2 faults the budget sufficed for about 30% of all orders; a larger --budget walks more":                     {Faults: 2, Share: .3, Astray: 50},
		"with 1 fault the budget sufficed for about 0.2% of all orders; a larger --budget walks more; whatever takes two": {Faults: 1, Share: .002, Astray: 51, Drawn: 4},
	} {
		if got := strings.Join(unwalked(&rundir.Explored{Found: rundir.Found{Levels: []*rundir.ExploredLevel{l}}}), "\n"); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for p, want := range map[float64]string{0: "no probability worth telling", .0419: "a probability of at least 4.1%", .0999: "a probability of at least 9.9%", .999: "a probability of at least 99%", 1: "a probability of at least 100%"} {
		if got := atLeast(p); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
}
