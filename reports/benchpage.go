package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
)

// benchView is what the template shows of a benchmark.
type benchView struct {
	Remarks  []string
	Facts    []fact
	Tables   []benchTableView
	Plots    []plotView
	Failures []benchFailure
	Disk     string
	Others   []string // what others have measured
}

type benchTableView struct {
	Title, Intro string
	Columns      []benchColumn
	Rows         []benchRow
}

type benchRow struct {
	Lock  string
	Cells []string
}

func newBenchView(b *cost.Bench) *benchView {
	v := &benchView{Remarks: benchRemarks(b), Facts: benchFacts(b), Disk: diskRemark(b), Failures: benchFailures(b), Others: benchOthers(b)}
	for _, t := range benchTables(b) {
		table := benchTableView{Title: t.Title, Intro: t.Intro, Columns: t.Columns}
		for _, lock := range b.Plan.Algorithms {
			row := benchRow{Lock: lock}
			for _, c := range t.Columns {
				row.Cells = append(row.Cells, c.show(lock))
			}
			table.Rows = append(table.Rows, row)
		}
		v.Tables = append(v.Tables, table)
	}
	return v
}

func benchFacts(b *cost.Bench) []fact {
	p := b.Plan
	facts := planFacts{}
	if !p.Made.IsZero() {
		facts.days.add(p.Made.Format("2 January 2006"))
	}
	facts.labs.add(p.Lab)
	facts.ttls.add(length(p.TTL))
	facts.seeds.add(fmt.Sprint(p.Seed))
	facts.machine(p.Machine)
	facts.versioned(p.Versions)
	return append([]fact{
		{Name: "Rounds", Value: fmt.Sprintf("%d of %d", b.Rounds, p.Rounds)},
		{Name: "Baseline", Value: p.Baseline},
	}, facts.facts()...)
}

// loadBench reads the benchmark in dir, or below it. The error matches [fs.ErrNotExist]
// where there is none.
func loadBench(dir string) (*cost.Bench, error) {
	d, err := rundir.OpenBench(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("reports: %w", err)
	}
	return d.Bench, nil
}

// benchIn is the first benchmark in the directories, and those that have more than one.
// The error is that of the first directory that has a benchmark which can't be read, or
// matches [fs.ErrNotExist].
func benchIn(dirs []string) (bench *cost.Bench, in string, rest []string, err error) {
	err = fs.ErrNotExist
	for _, dir := range dirs {
		b, e := loadBench(dir)
		if errors.Is(err, fs.ErrNotExist) {
			bench, in, err = b, dir, e
		}
		if kind, _ := rundir.Kind(dir); e != nil || kind != rundir.IsBench {
			rest = append(rest, dir)
		}
	}
	return bench, in, rest, err
}

// writeBench writes the page of a benchmark without runs.
func writeBench(b *cost.Bench, out string, brief bool) (_ string, err error) {
	v := newBenchView(b)
	if !brief {
		if v.Plots, err = writePlots(filepath.Join(filepath.Dir(out), rundir.PlotsDir), benchFigures(b)); err != nil {
			return "", err
		}
	}
	return writePage(out, "bench-page", v)
}
