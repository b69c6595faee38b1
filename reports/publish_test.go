package reports

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// TestPublish: everything that was measured stands in the file, and every picture and page
// that it leads to is there.
func TestPublish(t *testing.T) {
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "results")
	writeSample(t, dir)
	saved(t, dir, sampleBench())
	if _, err := Quorum(dir, sampleStudy()); err != nil {
		t.Fatal(err)
	}
	path, err := Publish(out, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(append([]string{"| 🟧 FENCE | etcd-lease | overstay | pause-holder; 1 cell without proof |", "Which lock to take", "What it costs", "crashes survived", "Broken promises: 1"}, sampleRows...), sampleCols...) {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file lacks %q", want)
		}
	}
	links := regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 4 {
		t.Errorf("only %d pictures", len(links))
	}
	for _, l := range links {
		if _, err := os.Stat(filepath.Join(out, l[1])); err != nil {
			t.Errorf("%s leads nowhere: %v", l[0], err)
		}
	}
}

// TestPublishAgain: what a report made is made anew, and what somebody wrote stays.
func TestPublishAgain(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	writeSample(t, dir)
	for range 2 {
		if _, err := Publish(out, dir); err != nil {
			t.Fatal(err)
		}
	}
	const own = "# My project\n"
	file := filepath.Join(out, "README.md")
	if err := os.WriteFile(file, []byte(own), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Publish(out, dir)
	if text, _ := os.ReadFile(file); err == nil || string(text) != own {
		t.Errorf("%v, and the file begins with %.40q", err, text)
	}
}

func TestPublishNeedsRuns(t *testing.T) {
	dir := t.TempDir()
	saved(t, dir, sampleBench())
	if _, err := Publish(filepath.Join(t.TempDir(), "out"), dir); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "name the directory of a matrix or of a run, too") {
		t.Errorf("a benchmark alone was published, or not told what to do: %v", err)
	}
}

// viewOf is the view of a matrix of these cells, with what their plans have in common, and all that is written of it.
func viewOf(t *testing.T, cells []checker.Cell, plan history.Plan) (v *view, page, readme string) {
	t.Helper()
	dir := t.TempDir()
	for i, c := range cells {
		cells[i].Dir = filepath.Join("cells", c.Algorithm, c.Fault)
		plan.Algorithm, plan.Fault = c.Algorithm, c.Fault
		if _, err := rundir.CreateRun(filepath.Join(dir, cells[i].Dir), plan); err != nil {
			t.Fatal(err)
		}
	}
	writeMatrix(t, dir, cells, 1)
	p, err := load([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	v = newView(p, nil, place{dir, true}, true)
	var b bytes.Buffer
	v.publish(&b)
	v.publishReasons(&b)
	page, _ = render(t, dir)
	return v, page, b.String()
}

// TestAdviceIsTheSameEverywhere: the page and what is published leave out the locks that the terminal leaves out, and
// say why none is named.
func TestAdviceIsTheSameEverywhere(t *testing.T) {
	unproven := hurtBy("unproven", "kill", lb.Check, lb.Overstay)
	unproven.Unproven = true
	plan := history.Plan{About: &history.About{Troubles: history.Troubles()}}
	v, page, readme := viewOf(t, []checker.Cell{safe("shown", "kill", 1), unproven}, plan)
	if _, _, unknown := v.Grid.advised(func(*checker.Cell) *history.Plan { return &plan }); !slices.Equal(unknown, v.Unadvised) || !slices.Equal(unknown, []string{"unproven"}) {
		t.Errorf("the terminal leaves out %v, and the page %v", unknown, v.Unadvised)
	}
	for name, text := range map[string]string{"page": page, "README": readme} {
		for _, want := range []string{"No lock that was weighed grants tokens.", "known to have died in these runs: unproven.", ranking(nil) + "."} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s lacks %q", name, want)
			}
		}
	}
	if sheet := strings.Join(v.Sheet().Advice, " "); !strings.Contains(sheet, "No lock that was weighed grants tokens. "+undying(v.Unadvised)) {
		t.Errorf("on the sheet: %q", sheet)
	}
}

// TestHarmWithoutProof: a lock that is SAFE in what proves something is not told as if that were all.
func TestHarmWithoutProof(t *testing.T) {
	unclear := hurtBy("lock", "cut", lb.Inconclusive, "")
	_, page, readme := viewOf(t, []checker.Cell{safe("lock", "none", 1), safe("lock", "kill", 1), unclear, safe("other", "none", 1), safe("other", "kill", 1)}, history.Plan{})
	const says = "1 cell without proof, but harm was seen there under cut"
	if want := "| 🟩 SAFE | lock | 1 run: up to 95% could still break | 1 fault; " + says + " |"; !strings.Contains(readme, want) {
		t.Errorf("README lacks %q:\n%s", want, readme)
	}
	if want := "| 1 run: up to 95% could still break | all 1 fault |"; !strings.Contains(readme, want) {
		t.Errorf("README lacks %q, of a lock of which all proves something:\n%s", want, readme)
	}
	for text, n := range map[string]int{says: 2, "Safe as it is, under everything tried that proved something": 3} { // in the answer, and with the lock
		if got := strings.Count(page, text); got != n {
			t.Errorf("the page has %d times %q, want %d", got, text, n)
		}
	}
}

// TestPublishedRun: of a single run it is said what went wrong, and of one in which nothing did there is no such heading.
func TestPublishedRun(t *testing.T) {
	const heading = "## What went wrong, and why\n"
	broken := hurtBy("lock", "kill", lb.Broken, lb.DoubleGrant)
	if _, _, readme := viewOf(t, []checker.Cell{broken}, history.Plan{}); !strings.Contains(readme, heading+"\n<details><summary>lock (1 cell)") || !strings.Contains(readme, broken.Reason) {
		t.Errorf("what went wrong is not told:\n%s", readme)
	}
	if _, _, readme := viewOf(t, []checker.Cell{safe("lock", "kill", 1)}, history.Plan{}); strings.Contains(readme, heading) {
		t.Errorf("a heading with nothing below it:\n%s", readme)
	}
}

// TestFencingOfUnkeptTokens: nobody is told to rely on tokens of which the same page says that they came out of order.
func TestFencingOfUnkeptTokens(t *testing.T) {
	cell := safe("lock", "kill", 1)
	const rely, not = "Send it with every write", "that was not kept under kill: no store can rely on it"
	plan := history.Plan{Traits: lb.Traits{Fenced: true}}
	for _, claims := range [][]checker.Unkept{nil, {{Claim: "fair", How: "3 out of turn"}}, {{Claim: "fenced", How: "2 tokens came twice"}}} {
		cell.Claims = claims
		kept := len(claims) == 0 || claims[0].Claim != "fenced"
		_, page, _ := viewOf(t, []checker.Cell{cell, safe("other", "kill", 1)}, plan)
		if strings.Contains(page, not) == kept || strings.Count(page, rely) != map[bool]int{true: 2, false: 1}[kept] {
			t.Errorf("%v: the page tells to rely on the tokens, or does not", claims)
		}
	}
}
