package reports

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

func TestPageOfARunThatWasNotJudged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	h, _ := overstay(true)
	run := writeHistory(t, dir, checker.Cell{Algorithm: "redlock", Fault: "pause-holder"}, h)
	if err := os.Remove(run.EventsFile("w2")); err != nil {
		t.Fatal(err)
	}
	text, _ := render(t, dir)
	for _, want := range []string{"this run was not judged", "nothing can be claimed: w2.jsonl is missing", "--algorithm redlock"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"Longest outage", "What each check found", "could not be read"} {
		if strings.Contains(text, not) {
			t.Errorf("the page of a run that was not judged says %q", not)
		}
	}
}

func TestPageSaysWhatIsWrongWithTheHistory(t *testing.T) {
	c := checker.Cell{Algorithm: "redlock", Fault: "pause-holder", Outcome: lb.Safe}
	h, _ := overstay(true)
	dir := t.TempDir()
	torn, damaged := filepath.Join(dir, "torn"), filepath.Join(dir, "damaged")
	run := writeRunOf(t, torn, c, h, checker.Finding{})
	appendTo(t, run.EventsFile("w2"), `{"t":`)
	if text, _ := render(t, torn); !strings.Contains(text, "was cut short and is left out") {
		t.Error("the page hides that a file was cut short")
	}
	run = writeRunOf(t, damaged, c, h, checker.Finding{})
	appendTo(t, run.EventsFile("w2"), "nonsense\n")
	if text, _ := render(t, damaged); !strings.Contains(text, "Its history could not be read") || !strings.Contains(text, "w2.jsonl:") {
		t.Error("the page hides that the history is damaged")
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// unfinishedCells are those of a matrix that was interrupted.
func unfinishedCells() []checker.Cell {
	return []checker.Cell{
		{Algorithm: "redlock", Fault: "none", Outcome: lb.Safe, Runs: 3, Promise: checker.PromiseKept, Dir: "cells/redlock/none/1"},
		{Algorithm: "redlock", Fault: "pause-holder"},
		{Algorithm: "zk-sequential", Fault: "none", Outcome: lb.Inconclusive, Reason: "too few contended sections", Runs: 2, Dir: "cells/zk-sequential/none/1"},
		{Algorithm: "zk-sequential", Fault: "pause-holder"},
	}
}

func TestReportsOfAnUnfinishedMatrix(t *testing.T) {
	dir := t.TempDir()
	m, err := rundir.CreateMatrix(dir, unfinishedCells(), 3)
	if err != nil {
		t.Fatal(err)
	}
	run := writeRunOf(t, filepath.Join(dir, "cells/redlock/none/1"), m.Cells[0], calm(1, 1), checker.Finding{})
	res, err := run.Result()
	if err != nil {
		t.Fatal(err)
	}
	res.Notes = []string{"a note of the recording"}
	if err := run.SaveResult(res); err != nil {
		t.Fatal(err)
	}
	writeRunOf(t, filepath.Join(dir, "cells/zk-sequential/none/1"), m.Cells[2], calm(2, 1), checker.Finding{})
	text, nodes := render(t, dir)
	for _, want := range []string{"This matrix is not finished: 2 of 4 cells without a run, 1 cell with fewer runs than planned.",
		"1 SAFE, 1 INCONCLUSIVE, 2 not run; none against what is declared, nothing declared of 1 cell.", `href="#notrun"`, safeSoFar, "<b>redlock</b> under", "Note: a note of the recording"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "all as declared") || strings.Contains(text, "everything tried") {
		t.Error("the page claims more than was run")
	}
	details := 0
	for _, n := range nodes {
		if attr(n, "class") == "cell" {
			details++
		}
	}
	if details != 1 {
		t.Errorf("%d details, want that of the one cell that proved nothing", details)
	}
	saved(t, dir, sampleBench())
	if err := os.RemoveAll(filepath.Join(dir, rundir.PlotsDir)); err != nil { // the whole page drew the matrix
		t.Fatal(err)
	}
	if path, err := Brief(dir); err != nil {
		t.Fatal(err)
	} else if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte("without pictures")) {
		t.Errorf("the brief page does not say what it lacks: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, rundir.PlotsDir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the brief page draws: %v", err)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"terminal": func(b *bytes.Buffer) error { return Matrix(b, m.Cells, m.Planned, false, 100) },
		"Markdown": func(b *bytes.Buffer) error { return Markdown(b, dir) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "not run"); n != 3 { // the cells, and the summary
			t.Errorf("%s: %d times \"not run\" in\n%s", name, n, &b)
		}
		if !strings.Contains(b.String(), "This matrix is not finished: 2 of 4 cells") || strings.Contains(b.String(), "all as declared") {
			t.Errorf("%s claims more than was run:\n%s", name, &b)
		}
	}
}

func TestPageBesideItsDirectory(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	cells := sampleCells()[:2]
	writeMatrix(t, dir, cells, 1)
	for _, c := range cells {
		writeRun(t, filepath.Join(dir, c.Dir), c, 1)
	}
	before := names(t, dir)
	page := filepath.Join(out, "page.html")
	path, err := HTMLTo(dir, page)
	if err != nil || path != page {
		t.Fatal(path, err)
	}
	if after := names(t, dir); after != before {
		t.Errorf("the directory was written to: %s, before %s", after, before)
	}
	if got := names(t, out); !strings.Contains(got, "page.html") || !strings.Contains(got, rundir.PlotsDir) {
		t.Errorf("only %s", got)
	}
	study := t.TempDir()
	if _, err := Quorum(study, sampleStudy()); err != nil {
		t.Fatal(err)
	}
	if path, err := HTMLTo(study, page); err != nil || path != page {
		t.Error(path, err)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// TestIDsAreOfTheirLock: two locks may have acquisitions of the same id.
func TestIDsAreOfTheirLock(t *testing.T) {
	h, f := lateDelete()
	other := make(history.Events, 0, len(h))
	for _, e := range h {
		if e.Lock != "" && e.Kind != history.KindRead && e.Kind != history.KindWrite {
			e.Lock, e.Client = "another", strings.Replace(e.Client, ".c0", ".c9", 1)
			other = append(other, e)
		}
	}
	ix := indexed(t, append(other, h...))
	f.Lock = "stock"
	if svg := Timeline(ix, f, history.Plan{}); !strings.Contains(svg, ">w2.c0<") || strings.Contains(svg, "c9") {
		t.Errorf("the picture shows another lock:\n%s", svg)
	}
	f.Lock = "nothing"
	if svg := Timeline(ix, f, history.Plan{}); svg != "" {
		t.Error("a picture of a lock that is not there")
	}
}

// TestManyOfEverything: what a history has too much of is not drawn one by one.
func TestManyOfEverything(t *testing.T) {
	tp := &tape{}
	a := tp.call(0, "w1.c0").grant(1, 0)
	for i := range 5000 {
		ms := 2 + float64(i)
		tp.freeze(ms, ms+.2, "w1")
		tp.fault("flicker", ms+.3, ms+.4, ms+.5, "it flickered")
		a.renew(ms+.55, ms+9000).read(ms+.6).write(ms+.7, false)
		a.event(ms+.8, history.Event{Kind: history.KindStep, Name: "again"})
		tp.call(ms+.1, "w2.c0").grant(ms+.2, 0) // never given back
		b := &hold{tape: tp, id: a.id, client: "w3.c0"}
		b.release(ms+.3, ms+.35, lb.AnswerFailed)
	}
	ix := indexed(t, tp.h)
	for _, m := range []string{lb.DoubleGrant, lb.Overstay, lb.EarlyRelease, lb.Ghost, lb.VanishedGrant, ""} {
		f := checker.Finding{Mechanism: m, IDs: []string{a.id, "a2", "a3", "a4000", "a5001"}, At: at(4000), From: ix.Start, To: ix.Last}
		wellFormed(t, Timeline(ix, f, history.Plan{}))
	}
	if d := ix.Doubts; len(d) > 0 || len(ix.Faults) != 5000 || ix.Workers[0].Dead != history.Forever {
		t.Errorf("%q, %d faults", d, len(ix.Faults))
	}
}

func TestPageOfARunSaysWhatWasPromised(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	run, err := rundir.CreateRun(dir, history.Plan{Algorithm: "redlock", Fault: "pause-holder", Jobs: 6,
		Expect:  &lb.Expectation{Fault: "pause-*", Outcomes: []lb.Outcome{lb.Safe}, Why: "nobody knows"},
		Machine: &history.Machine{System: "linux/amd64", Cores: 2}, Versions: map[string]string{"redis": "7.2", "go": "1.26"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.SaveResult(checker.Result{Outcome: lb.Broken, Reason: "double grant: so it was"}); err != nil {
		t.Fatal(err)
	}
	text, _ := render(t, dir)
	for _, want := range []string{"1 not as declared", "SAFE: nobody knows", "linux/amd64, 2 cores", "go 1.26, redis 7.2"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPromises(t *testing.T) {
	for promises, want := range map[string]string{
		"": "", "kept kept": "; all as declared", "kept open": "; none against what is declared, 1 undecided", "open broken broken": "; 2 not as declared, 1 undecided",
	} {
		var cells []checker.Cell
		for i, p := range strings.Fields(promises) {
			cells = append(cells, checker.Cell{Algorithm: string(rune('a' + i)), Promise: p})
		}
		if got := newGrid(cells, 0).promises(); got != want {
			t.Errorf("%q: %q, want %q", promises, got, want)
		}
	}
}

// TestUnfinished: a matrix lacks what was planned, whatever came out of a run that was done.
func TestUnfinished(t *testing.T) {
	failed := func(fault string, n, of int) checker.Cell {
		return checker.Cell{Algorithm: "a", Fault: fault, Outcome: lb.Inconclusive, Reason: "so it was", Runs: of, Inconclusive: of, Failed: n}
	}
	few := safe("a", "few", 1)
	few.Planned = 2
	planned := rundir.Pending(checker.Cell{Algorithm: "a", Fault: "planned"})
	shard := planned
	shard.Fault, shard.Reason = "shard", rundir.Elsewhere
	for _, tt := range []struct {
		says    string
		planned int
		cells   []checker.Cell
	}{
		{"", 1, []checker.Cell{safe("a", "x", 1)}},
		{"", 2, []checker.Cell{failed("x", 1, 2)}},
		{"The run failed or was interrupted.", 0, []checker.Cell{failed("x", 1, 1)}},
		{"This matrix is not finished: 1 cell with fewer runs than planned, 1 cell whose run failed or was interrupted.", 2, []checker.Cell{failed("x", 1, 1)}},
		{"This matrix is not finished: 1 cell whose run failed or was interrupted.", 1, []checker.Cell{failed("x", 1, 1), safe("a", "y", 1)}},
		{"This matrix is not finished: 1 cell with fewer runs than planned.", 0, []checker.Cell{few}},
		{"This matrix is not finished: 1 of 3 cells without a run, 1 of 3 cells in another shard.", 1, []checker.Cell{safe("a", "x", 1), planned, shard}},
	} {
		if got := newGrid(tt.cells, tt.planned).unfinished(); got != tt.says {
			t.Errorf("%q, want %q", got, tt.says)
		}
	}
	for want, c := range map[string]checker.Cell{failedShort: failed("x", 2, 2), string(lb.Inconclusive): failed("x", 1, 2)} {
		if got := word(&c); got != want {
			t.Errorf("%d of %d runs failed: the cell reads %q, want %q", c.Failed, c.Runs, got, want)
		}
	}
}

// TestPageOfAShard: cells that another shard has are not told as if this one had been interrupted.
func TestPageOfAShard(t *testing.T) {
	shard, planned := rundir.Pending(checker.Cell{Algorithm: "a", Fault: "shard"}), rundir.Pending(checker.Cell{Algorithm: "a", Fault: "planned"})
	shard.Reason = rundir.Elsewhere
	const here, there = "the matrix was interrupted before they had a run", "Another shard of the matrix has the runs of these cells."
	for _, tt := range []struct {
		cell        checker.Cell
		says, never string
	}{{shard, there, here}, {planned, here, there}} {
		dir := t.TempDir()
		writeMatrix(t, dir, []checker.Cell{tt.cell, {Algorithm: "b", Fault: tt.cell.Fault, Outcome: lb.NotAvailable}}, 1)
		text, _ := render(t, dir)
		if !strings.Contains(text, tt.says) || strings.Contains(text, tt.never) || !strings.Contains(text, "there is no run of it here") || !strings.Contains(text, `id="notrun"`) {
			t.Errorf("the page of a cell %s does not say %q, or says %q", tt.cell.Reason, tt.says, tt.never)
		}
	}
}
