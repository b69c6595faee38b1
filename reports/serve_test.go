package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

// files are all below dir, with their sizes and times.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			list = append(list, path+" "+info.ModTime().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestPage: what is served is what is written, and nothing is written for it.
func TestPage(t *testing.T) {
	matrix, study, bench := t.TempDir(), t.TempDir(), t.TempDir()
	cells := sampleCells()[:3]
	writeMatrix(t, matrix, cells, 5)
	for i, c := range cells {
		writeRun(t, filepath.Join(matrix, c.Dir), c, i)
	}
	writeJSON(t, filepath.Join(study, rundir.QuorumFile), sampleStudy())
	saved(t, bench, sampleBench())
	for _, dir := range []string{matrix, study, bench, filepath.Join(matrix, cells[0].Dir)} {
		before := files(t, dir)
		var page, brief bytes.Buffer
		if err := Page(&page, dir, false); err != nil {
			t.Fatal(err)
		}
		if err := Page(&brief, dir, true); err != nil {
			t.Fatal(err)
		}
		if after := files(t, dir); !slices.Equal(before, after) {
			t.Errorf("files before %q, after %q", before, after)
		}
		path, err := HTML(dir)
		if err != nil {
			t.Fatal(err)
		}
		if written, err := os.ReadFile(path); err != nil || !bytes.Equal(written, page.Bytes()) {
			t.Errorf("%s: another page than is served, %v", path, err)
		}
		if !Current(page.Bytes()) || strings.Contains(brief.String(), briefly) {
			t.Errorf("%s: not a page of ours, or one that somebody interrupted", dir)
		}
		if path, err = Brief(dir); err != nil {
			t.Fatal(err)
		}
		if written, err := os.ReadFile(path); err != nil || dir == matrix && Current(written) {
			t.Errorf("%s: as good as a whole page, %v", path, err)
		}
		if other := bytes.Replace(page.Bytes(), []byte("<style>"), []byte("<style>b{}"), 1); Current(other) {
			t.Errorf("%s: a page with other styles is ours", dir)
		}
		style, script := Inline()
		head := new(bytes.Buffer)
		if err := Head(head, "a < b"); err != nil || !strings.Contains(head.String(), "<title>a &lt; b</title>") || !strings.Contains(head.String(), "<style>"+style+"</style>") {
			t.Errorf("the head: %v\n%s", err, head)
		}
		for _, el := range []struct{ name, content string }{{"style", style}, {"script", script}} {
			if n := strings.Count(page.String(), "<"+el.name); n != strings.Count(page.String(), "<"+el.name+">"+el.content+"</"+el.name+">") {
				t.Errorf("%s has %d <%s>, and not all are known", dir, n, el.name)
			}
		}
	}
}

// TestChips: what somebody must look at comes first, and every cell is counted.
func TestChips(t *testing.T) {
	cell := func(fault string, o lb.Outcome, promise string) checker.Cell {
		return checker.Cell{Algorithm: "A", Fault: fault, Outcome: o, Promise: promise, Runs: 1}
	}
	failed := cell("f6", lb.Inconclusive, "")
	failed.Failed = 1
	var got []string
	for _, c := range Chips([]checker.Cell{cell("f1", lb.Safe, "kept"), cell("f2", lb.Safe, "kept"), cell("f3", lb.Check, "kept"),
		cell("f4", lb.Broken, "broken"), cell("f5", lb.Inconclusive, ""), failed, rundir.Pending(checker.Cell{Algorithm: "A", Fault: "f7"}),
		cell("f8", lb.NotAvailable, ""), cell("f9", lb.Stuck, "kept")}) {
		got = append(got, c.Text+" "+c.Class)
	}
	want := []string{"1 broken promise promise", "1 BROKEN broken", "1 STUCK stuck", "1 CHECK check", "2 SAFE safe", "1 INCONCLUSIVE inconclusive",
		"1 failed inconclusive", "1 not run notrun plainchip"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
