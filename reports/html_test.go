package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

// render writes the page of dir and returns it with all its elements.
func render(t *testing.T, dir string) (string, []*html.Node) {
	t.Helper()
	path, err := HTML(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := html.Parse(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	var nodes []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			nodes = append(nodes, n)
		}
	}
	return string(b), nodes
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func TestPageStandsAlone(t *testing.T) {
	dir := t.TempDir()
	writeSample(t, dir)
	text, nodes := render(t, dir)
	ids := make(map[string]int)
	for _, n := range nodes {
		if id := attr(n, "id"); id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %s stands %d times", id, n)
		}
	}
	for _, n := range nodes {
		for _, key := range []string{"src", "href", "xlink:href", "srcset", "data"} {
			v := attr(n, key)
			beside := n.Data == "a" && !strings.HasPrefix(v, "#") && filepath.IsLocal(v)
			if beside {
				if _, err := os.Stat(filepath.Join(dir, v)); err != nil {
					t.Errorf("<%s %s=%q> leads nowhere: %v", n.Data, key, v, err)
				}
				continue
			}
			if v != "" && !strings.HasPrefix(v, "#") {
				t.Errorf("<%s %s=%q> leads out of the page", n.Data, key, v)
			}
			if v != "" && ids[strings.TrimPrefix(v, "#")] == 0 {
				t.Errorf("<%s %s=%q> leads nowhere", n.Data, key, v)
			}
		}
	}
	if m := regexp.MustCompile(`https?://|@import|url\([^#)]`).FindString(text); m != "" {
		t.Errorf("the page loads something: %q", m)
	}
	for _, c := range sampleCells() {
		if c.Outcome != lb.NotAvailable && ids[anchor(&c)] != 1 {
			t.Errorf("%s under %s has no detail", c.Algorithm, c.Fault)
		}
	}
	for _, want := range []string{"1 broken promise", "w1.c0 wrote", "--seed 1119", "two holders", "has no such step",
		`href="#na-1"`, "As declared: the lock service decides alone"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPageIsDeterministic(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	writeSample(t, a)
	writeSample(t, b)
	render(t, a)
	render(t, b)
	for _, name := range []string{rundir.PageFile, "plots/outage.svg", "plots/outage.png"} {
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		y, _ := os.ReadFile(filepath.Join(b, name))
		if string(x) != string(y) {
			t.Errorf("%s differs from one time to the next", name)
		}
	}
}

func TestPageOfOneRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cells := sampleCells()
	writeRun(t, dir, cells[9], 9) // redis-setpx-del under pause-holder
	text, nodes := render(t, dir)
	pictures := 0
	for _, n := range nodes {
		if attr(n, "class") == "tl" {
			pictures++
		}
	}
	if pictures != 1 || !strings.Contains(text, "The result") {
		t.Errorf("%d pictures of one broken run", pictures)
	}
}

func TestPageSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	cells := sampleCells()[9:11]
	cells[1].Outcome, cells[1].Dir = lb.Broken, "../../outside"
	writeMatrix(t, dir, cells, 5)
	text, _ := render(t, dir)
	if n := strings.Count(text, "Its files could not be read"); n != 2 {
		t.Errorf("%d of 2 cells say that their files are missing", n)
	}
	if !strings.Contains(text, "names no directory below") {
		t.Error("a directory outside of the report was read")
	}
}

func TestPageEscapesWhatItShows(t *testing.T) {
	dir := t.TempDir()
	const evil = `<img src=x onerror=alert(1)>`
	c := checker.Cell{Algorithm: evil, Fault: evil, Outcome: lb.Broken, Reason: evil, Effect: evil, Runs: 1, Dir: "1"}
	writeMatrix(t, dir, []checker.Cell{c}, 1)
	h, f := lateDelete()
	for i := range h {
		h[i].Client = strings.ReplaceAll(h[i].Client, "c0", evil)
	}
	f.Sentence = evil
	writeRunOf(t, filepath.Join(dir, "1"), c, h, f)
	if text, nodes := render(t, dir); strings.Contains(text, "<img") {
		t.Error("markup from the results got into the page")
	} else if len(nodes) < 50 || !strings.Contains(text, "two holders") {
		t.Error("the page shows nothing")
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := HTML(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty directory: %v", err)
	}
	const matrixFile = "matrix.json"
	writeJSON(t, filepath.Join(dir, matrixFile), map[string]any{"schema": 99})
	if _, err := HTML(dir); err == nil || !strings.Contains(err.Error(), "schema 99") {
		t.Errorf("unknown schema: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, matrixFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := HTML(dir); err == nil || !strings.Contains(err.Error(), matrixFile) {
		t.Errorf("damaged matrix: %v", err)
	}
}

func TestPageOfNothing(t *testing.T) {
	dir := t.TempDir()
	writeMatrix(t, dir, nil, 1)
	render(t, dir)
}

func TestPageOfManyCellsStaysSmall(t *testing.T) {
	const locks, perCell = 60, 24 << 10 // 250 of them in 6 MB
	dir := t.TempDir()
	h, f := overstay(true)
	var cells []checker.Cell
	for i := range locks {
		c := checker.Cell{Algorithm: fmt.Sprint("lock-", i), Fault: "pause-holder", Outcome: lb.Fence, Reason: f.Sentence, Runs: 1, Dir: fmt.Sprint(i)}
		cells = append(cells, c)
		writeRunOf(t, filepath.Join(dir, c.Dir), c, h, f)
	}
	writeMatrix(t, dir, cells, 1)
	text, nodes := render(t, dir)
	pictures, open := 0, 0
	for _, n := range nodes {
		if attr(n, "class") == "tl" {
			pictures++
		}
		if attr(n, "class") == "cell" && slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "open" }) {
			open++
		}
	}
	if len(text) > locks*perCell || pictures != locks || open != 0 {
		t.Errorf("%d bytes, %d pictures, %d of %d details unfolded", len(text), pictures, open, locks)
	}
}
