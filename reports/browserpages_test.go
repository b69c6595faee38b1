package reports

import (
	"fmt"
	"path/filepath"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

// samplePages writes a page of each kind and returns their files by name.
func samplePages(t *testing.T) map[string]string {
	t.Helper()
	at := t.TempDir()
	path := func(name string) string { return filepath.Join(at, name) }
	files := make(map[string]string)
	add := func(name, file string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	html := func(name string) {
		t.Helper()
		file, err := HTML(path(name))
		add(name, file, err)
	}

	writeSample(t, path("matrix"))
	saved(t, path("matrix"), sampleBench())
	writeExplored(t, rundir.ExploredOf(path("matrix"), "redis-setpx-lua"), "redis-setpx-lua", false)
	writeExplored(t, rundir.ExploredOf(path("matrix"), "redis-setpx-del"), "redis-setpx-del", true)
	html("matrix")

	writeExplored(t, path("explored"), "redis-setpx-del", true)
	html("explored")
	one, err := HTML(path("explored/violations/1-1-expiry"))
	add("order", one, err)

	writeMatrix(t, path("large"), manyCells(), 1)
	html("large")

	h, f := lateDelete()
	during := tape{h: h}
	during.fault("pause-holder", 93, 103, 104, "w1 was stopped for 5 ms") // behind the two holders
	f.Circle = []checker.Wait{{Client: "w1.c0", Lock: "account-1", Holder: "w2.c0"}, {Client: "w2.c0", Lock: "account-2", Holder: "w1.c0"}}
	c := checker.Cell{Algorithm: "redis-setpx-del", Fault: "pause-holder", Outcome: lb.Broken, Mechanism: f.Mechanism, Reason: f.Mechanism + ": " + f.Sentence}
	writeRunOf(t, path("run"), c, during.h, f)
	html("run")

	saved(t, path("bench"), sampleBench())
	html("bench")

	file, err := Quorum(path("."), oddStudy())
	add("quorum", file, err)

	before, now := compareBenches()
	head := sampleCells()[1:]
	head[3].Outcome, head[3].Mechanism, head[3].Reason = lb.Broken, lb.Overstay, nasty
	head[20].Promise = checker.PromiseBroken
	add("compare", path("compare.html"), Compare("base", "head", rundir.Saved{Cells: sampleCells(), Bench: before}, rundir.Saved{Cells: head, Bench: now}, .1).HTML(path("compare.html")))
	return files
}

// manyCells are those of a matrix of 36 locks and 25 faults, with every outcome in it.
func manyCells() []checker.Cell {
	var out []checker.Cell
	sample := sampleCells()
	for i := range 36 {
		for j := range 25 {
			c := sample[i%len(sampleRows)*len(sampleCols)+j%len(sampleCols)]
			if n := i / len(sampleRows); n > 0 {
				c.Algorithm += fmt.Sprintf("-second-%d", n)
			}
			if n := j / len(sampleCols); n > 0 {
				c.Fault += fmt.Sprintf("@step-%d", n)
			}
			c.Dir = fmt.Sprintf("cells/%d/%d", i, j)
			out = append(out, c)
		}
	}
	return out
}
