package cli

import (
	"encoding/json"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
)

// together adds up what the pods of a matrix tell, each of its part.
type together struct {
	see   func(run.Progress)
	lose  func(gone func(going) bool) // runs that go on no more
	runs  int                         // of each cell, at least
	parts []part
	whole map[[2]string]bool // cells of which that was said
}

// part is what one shard has told.
type part struct {
	done, total int
	cells       map[[2]string]checker.Cell
}

// newTogether expects so many runs of each shard until it tells.
func newTogether(w *watch, m *run.Matrix, out *rundir.Matrix, of int) *together {
	t := &together{see: w.see, lose: w.lose, runs: m.Runs, whole: map[[2]string]bool{}}
	for n := range of {
		p := part{cells: map[[2]string]checker.Cell{}}
		file := rundir.MatrixFile{Planned: m.Runs, Until: m.Until, Shard: rundir.Shard{Nth: n + 1, Of: of}}
		for i, c := range out.Cells {
			if c.Outcome != lb.NotAvailable {
				p.total += file.PlannedOf(i)
			}
		}
		t.parts = append(t.parts, p)
	}
	return t
}

func (t *together) name(shard int) string { return fmt.Sprintf("in shard %d", shard+1) }

// line is told what the shard, from 0, has printed. What it has told before it may tell again.
func (t *together) line(shard int, line []byte) {
	var e news
	p := &t.parts[shard]
	if json.Unmarshal(line, &e) != nil || e.Algorithm == "" || e.Done < p.done {
		return
	}
	p.done, p.total = e.Done, e.Total
	now := run.Progress{Algorithm: e.Algorithm, Fault: e.Fault, Run: e.Run, Phase: t.name(shard)}
	if e.Cell != nil {
		at := [2]string{e.Algorithm, e.Fault}
		p.cells[at] = *e.Cell
		now.Phase, now.Cell = "", t.cell(at)
		now.Whole = e.Whole && now.Cell.Runs >= t.runs && !t.whole[at]
		t.whole[at] = t.whole[at] || now.Whole
	}
	for _, p := range t.parts {
		now.Done, now.Total = now.Done+p.done, now.Total+p.total
	}
	t.see(now)
}

// again forgets what the shard has told: another pod begins it again.
func (t *together) again(shard int) {
	t.lose(func(g going) bool { return g.phase == t.name(shard) })
	t.parts[shard].done = 0
	t.parts[shard].cells = map[[2]string]checker.Cell{}
}

// cell is what all shards have told of one, as the gravest of them has it, while the matrix goes
// on. How sure it is, and whether its promise is kept, only all runs together say.
func (t *together) cell(at [2]string) (all checker.Cell) {
	gravest := -1
	runs, failed, broken := 0, 0, ""
	for _, p := range t.parts {
		c, ok := p.cells[at]
		if !ok {
			continue
		}
		runs, failed = runs+c.Runs, failed+c.Failed
		if c.Promise == checker.PromiseBroken && c.Outcome != lb.Safe { // that a known break is not seen, no part can tell
			broken = c.Promise
		}
		if n := c.Outcome.Gravity(); n > gravest {
			gravest, all = n, c
		}
	}
	all.Runs, all.Failed, all.Promise = runs, failed, broken
	return all
}
