package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/page.md anew")

// TestPage: a row of each kind, and the counts.
func TestPage(t *testing.T) {
	safe := []condition{{Lock: "slow", Fault: "none", Is: "SAFE"}}
	broken := []condition{{Lock: "slow", Fault: "none", Is: "BROKEN"}}
	const command = "matrix --algorithms slow"
	docs := []document{
		{Number: "1", Title: "a survey", Claims: []claim{
			{ID: "1-1", Place: "first", Says: "it is safe", Run: command, Confirmed: safe, Otherwise: refuted},
			{ID: "1-2", Place: "second", Says: "it is not", Run: command, Confirmed: broken, Otherwise: refuted, Note: "A note"},
			{ID: "1-3", Place: "third", Says: "one | the other", Run: command, Confirmed: broken, Depends: safe, On: "the weather"},
		}},
		{Number: "2", Title: "another", Claims: []claim{
			{ID: "2-1", Place: "first", Says: "it has wings", Reading: refuted, Because: "it has legs"},
			{ID: "2-2", Place: "second", Says: "it is quick", Run: "bench", Confirmed: safe, Otherwise: refuted},
			{ID: "2-3", Place: "third", Says: "who knows", Run: command, Confirmed: broken, Refuted: broken},
		}},
	}
	got := page(docs, &record{Commands: map[string]*ran{command: {Date: "2026-01-02", Facts: allFacts(t)}}})
	golden := filepath.Join("testdata", "page.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("go test ./internal/claims -update writes %s anew:\n%s", golden, got)
	}
	read := recorded(got)
	for id, want := range map[string]verdict{"1-1": confirmed, "1-2": refuted, "1-3": depends, "2-1": refuted, "2-2": notRun, "2-3": undecided} {
		if read[id] != want {
			t.Errorf("%s is read as %q; want %q", id, read[id], want)
		}
	}
	if len(read) != 6 {
		t.Errorf("%v", read)
	}
}

// TestShown: three digits, in the unit that fits.
func TestShown(t *testing.T) {
	for _, row := range []struct {
		v    float64
		unit string
		want string
	}{{1234567, "ns", "1.23 ms"}, {21300000000, "ns", "21.3 s"}, {900, "ns", "900 ns"}, {45600, "ns/grant", "45.6 µs"}, {4781.2, "handoffs/s", "4780/s"}, {3.3714, "requests/grant", "3.37 a grant"}, {0.5, "index", "0.5"}, {123456, "", "123000"}} {
		if got := shown(row.v, row.unit); got != row.want {
			t.Errorf("%v %s: %q; want %q", row.v, row.unit, got, row.want)
		}
	}
}

// TestRecorded: docs/claims.md is the page of the list and of what was recorded, and the commands that
// were run gave all that the statements ask for.
func TestRecorded(t *testing.T) {
	docs, err := load()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..")
	rec, err := readRecord(filepath.Join(root, recordFile))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != page(docs, rec) {
		t.Errorf("%s is not the page of the list and of %s: go run ./internal/claims -page", pageFile, recordFile)
	}
	for _, d := range docs {
		for _, c := range d.Claims {
			for _, says := range judge(c, rec.of(c.Run)).facts {
				if strings.HasSuffix(says, "is missing") || strings.Contains(says, "n/a") {
					t.Errorf("%s asks lockbench %s for what it does not give: %s", c.ID, c.Run, says)
				}
			}
		}
	}
}

// TestCheck: a list that could never decide something is refused.
func TestCheck(t *testing.T) {
	safe := []condition{{Lock: "slow", Fault: "none", Is: "SAFE"}}
	good := claim{ID: "1-1", Place: "here", Says: "this", Run: "matrix --runs 2", Confirmed: safe, Otherwise: refuted}
	if err := check([]document{{Number: "1", Claims: []claim{good}}}); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*claim){
		"another's name":            func(c *claim) { c.ID = "2-1" },
		"no place":                  func(c *claim) { c.Place = "" },
		"no command, and not read":  func(c *claim) { c.Run = "" },
		"a command, and read":       func(c *claim) { c.Reading, c.Because = refuted, "so" },
		"read, and not said what":   func(c *claim) { *c = claim{ID: "1-1", Place: "here", Says: "this", Reading: refuted} },
		"a fact that may be either": func(c *claim) { c.Confirmed = []condition{{Fact: "counts/grow"}} },
		"one verdict only":          func(c *claim) { c.Otherwise = "" },
		"an unknown verdict":        func(c *claim) { c.Otherwise = "perhaps" },
		"depends on nothing":        func(c *claim) { c.Otherwise = depends },
		"on, and never depends":     func(c *claim) { c.On = "the weather" },
		"a command without outcome": func(c *claim) { c.Run = "list faults" },
		"an unknown outcome":        func(c *claim) { c.Confirmed = []condition{{Lock: "slow", Fault: "none", Is: "FINE"}} },
		"an unknown figure":         func(c *claim) { c.Confirmed = []condition{{Lock: "slow", Figure: "beauty", Above: "1"}} },
		"a figure without a bound":  func(c *claim) { c.Confirmed = []condition{{Lock: "slow", Figure: "cycle"}} },
		"a bound that is no number": func(c *claim) { c.Confirmed = []condition{{Lock: "slow", Figure: "cycle", Above: "much"}} },
		"two things at once":        func(c *claim) { c.Confirmed = []condition{{Lock: "slow", Fault: "none", Orders: "nothing"}} },
	} {
		bad := good
		spoil(&bad)
		if check([]document{{Number: "1", Claims: []claim{bad}}}) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if check([]document{{Number: "1", Claims: []claim{good, good}}}) == nil {
		t.Error("the same name twice: no error")
	}
}
