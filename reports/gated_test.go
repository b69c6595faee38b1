package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
)

// nasty is a reason that no format may stumble over.
const nasty = "overstay: it said \"]]>\" & <b>,\n\x01\xff; |"

func gatedSample() Gated {
	cells := sampleCells()
	cells[0].Mechanism, cells[0].Reason, cells[0].Outcome, cells[0].Promise = lb.Overstay, nasty, lb.Broken, checker.PromiseBroken
	g := Gated{Cells: cells, Planned: 5, Exit: 1}
	for _, c := range cells {
		if f := gate.Of(c); f != nil {
			f.Again = "lockbench run --algorithm " + c.Algorithm
			g.Findings = append(g.Findings, *f)
		}
	}
	g.Findings = append(g.Findings, gate.Finding{Kind: gate.Slow, Algorithm: "redlock", Limit: "p(99) < 5ms", Says: "7ms"})
	return g
}

func TestJUnit(t *testing.T) {
	g := gatedSample()
	g.Cells[0].TookMS = 1500
	var b bytes.Buffer
	if err := g.JUnit(&b); err != nil {
		t.Fatal(err)
	}
	var all junitSuites
	if err := xml.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	// Three promises and a limit are failures, what proves nothing is an error.
	wantFailures, wantErrors := 0, 0
	for _, f := range g.Findings {
		if f.Kind == gate.Undecided {
			wantErrors++
		} else {
			wantFailures++
		}
	}
	if all.Tests != len(g.Cells)+1 || all.Failures != wantFailures || all.Errors != wantErrors || all.Skipped != 8 || wantErrors != 2 {
		t.Errorf("%d tests, %d failures, %d errors, %d skipped; want %d, %d, %d, 8", all.Tests, all.Failures, all.Errors, all.Skipped, len(g.Cells)+1, wantFailures, wantErrors)
	}
	failures, seen := 0, false
	for _, s := range all.Suites {
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures++
			}
			if c.Class == g.Cells[0].Algorithm && c.Name == g.Cells[0].Fault {
				seen = c.Failure != nil && strings.Contains(c.Failure.Message, `it said "]]>" & <b>,`) && strings.Contains(c.Failure.Text, "again: lockbench run") && c.Time == "1.500" && s.Time == "1.500"
			}
		}
	}
	if failures != all.Failures || !seen || all.Suites[len(all.Suites)-1].Name != "gate" {
		t.Errorf("%d failures, the first cell's: %v\n%s", failures, seen, &b)
	}
}

func TestCSV(t *testing.T) {
	g := gatedSample()
	var b bytes.Buffer
	if err := g.CSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 1+len(g.Cells) {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	of := map[string]string{}
	for i, name := range lines[0] {
		of[name] = lines[1][i]
	}
	if of["algorithm"] != g.Cells[0].Algorithm || of["mechanism"] != lb.Overstay || of["reason"] != nasty || of["promise"] != "broken" {
		t.Errorf("%q", of)
	}
}

// TestCommand: a shell reads the command as it was meant.
func TestCommand(t *testing.T) {
	p := history.Plan{Algorithm: "a", Fault: "cut@after-set/0.7ttl", Clients: 6, TTL: 1e9, Duration: 5e8, Seed: 7, First: true,
		ServerOptions: []string{"a=1,2", "b=it's"}, ServerBinary: "redis=/a b", ServerImage: "redis=redis:8"}
	line := strings.Join(Command("./it's a bench", p), " ")
	out, err := exec.Command("sh", "-c", "printf '<%s>' "+line).Output()
	if want := "<./it's a bench><run><--algorithm><a><--fault><cut@after-set/0.7ttl><--server-option><a=1,2><--server-option><b=it's><--server-binary><redis=/a b><--image><redis=redis:8><--clients><6><--ttl><1s><--duration><500ms><--seed><7><--first>"; err != nil || string(out) != want {
		t.Errorf("%s is read as %s, %v", line, out, err)
	}
}

// TestComparePage: the page stands alone, its elements are closed in turn, and each change
// has both sides.
func TestComparePage(t *testing.T) {
	base, head := sampleCells(), sampleCells()[1:]
	head[3].Outcome, head[3].Mechanism, head[3].Reason = lb.Broken, lb.Overstay, nasty
	head[20].Promise = checker.PromiseBroken
	head = append(head, checker.Cell{Algorithm: "new-lock", Fault: "none", Outcome: lb.Safe})
	before, now := compareBenches()
	c := Compare("base", "<head>", rundir.Saved{Cells: base, Bench: before}, rundir.Saved{Cells: head, Bench: now}, .1)
	file := filepath.Join(t.TempDir(), "c.html")
	if err := c.HTML(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "http://") || strings.Contains(string(text), "https://") || strings.Contains(string(text), "<b>,") || strings.Contains(string(text), "<head>:") {
		t.Error("the page fetches something, or does not escape")
	}
	var open []string
	articles, sides, halves := 0, 0, 0
	for z := html.NewTokenizer(bytes.NewReader(text)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		class := attr(&html.Node{Attr: token.Attr}, "class")
		switch {
		case kind == html.StartTagToken && token.Data != "meta" && token.Data != "col":
			open = append(open, token.Data)
			if token.Data == "article" {
				articles++
			}
			if class == "sides" {
				sides++
			}
			if strings.HasPrefix(class, "half") {
				halves++
			}
		case kind == html.EndTagToken:
			if n := len(open); n == 0 || open[n-1] != token.Data {
				t.Fatalf("</%s> closes %q", token.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) != 0 || len(c.Changes) != 4 || articles != 4 || sides != 4 {
		t.Errorf("left open %q, %d changes, %d articles with %d pairs of sides", open, len(c.Changes), articles, sides)
	}
	if want := len(base) + 1 + 4; halves != want { // what changed stands there twice
		t.Errorf("%d cells in the matrix, want %d", halves, want)
	}
	for i, want := range []gate.Trend{gate.Worse, gate.Worse, gate.Gone, gate.New} {
		if c.Changes[i].Trend != want {
			t.Errorf("change %d is %s, want %s", i, c.Changes[i].Trend, want)
		}
	}
}
