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
	got := surveys.pageOf(docs, &record{Commands: map[string]*ran{command: {Date: "2026-01-02", Facts: allFacts(t)}}})
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
	read := surveys.recorded(got)
	for id, want := range map[string]verdict{"1-1": confirmed, "1-2": refuted, "1-3": depends, "2-1": refuted, "2-2": notRun, "2-3": undecided} {
		if read[id] != want {
			t.Errorf("%s is read as %q; want %q", id, read[id], want)
		}
	}
	if len(read) != 6 {
		t.Errorf("%v", read)
	}
}

// TestBugs: the words of the other page, which are read as they are written, and what is missing.
func TestBugs(t *testing.T) {
	const command = "matrix --algorithms slow"
	when := func(is string) []condition { return []condition{{Lock: "slow", Fault: "none", Is: is}} }
	got := bugs.pageOf([]document{{Number: "x", Title: "Servers", Claims: []claim{
		{ID: "x-1", Place: "there", Says: "two have it", Run: command, Confirmed: when("SAFE"), Otherwise: refuted},
		{ID: "x-2", Place: "there", Says: "nobody has it", Run: command, Confirmed: when("BROKEN"), Otherwise: refuted},
		{ID: "x-3", Place: "there", Says: "it has wings", Missing: "a bird"},
		{ID: "x-4", Place: "there", Says: "it is slow", Run: "bench", Confirmed: when("SAFE"), Otherwise: refuted},
	}}}, &record{Commands: map[string]*ran{command: {Facts: allFacts(t)}}})
	for _, want := range []string{
		"| document | bugs | convicted | not convicted | missed | undecided | not run yet |\n",
		"| x | 4 | 1 | 1 | 1 | 0 | 1 |\n", "\n## Servers\n", "| what goes wrong |", "| x-3 | there | it has wings |  | a bird | **missed** |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	read := bugs.recorded(got)
	for id, want := range map[string]verdict{"x-1": confirmed, "x-2": refuted, "x-3": missed, "x-4": notRun} {
		if read[id] != want {
			t.Errorf("%s is read as %q; want %q", id, read[id], want)
		}
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

// TestRecorded: each page is that of its list and of what was recorded, and the commands that
// were run gave all that the statements ask for.
func TestRecorded(t *testing.T) {
	for _, k := range []book{surveys, bugs} {
		t.Run(k.of, k.isRecorded)
	}
}

func (k book) isRecorded(t *testing.T) {
	docs, err := k.load()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join("..", "..")
	rec, err := readRecord(filepath.Join(root, k.record))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, k.page))
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != k.pageOf(docs, rec) {
		t.Errorf("%s is not the page of the list and of %s: go run ./internal/claims -page, and with -bugs", k.page, k.record)
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
		"what is missing, and run":  func(c *claim) { c.Missing = "a server" },
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
