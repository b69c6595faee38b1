package reports

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/cost"
)

// benchView is what the template shows of the benchmarks.
type benchView struct {
	Remarks []string // what a reader must know before any figure
	Facts   []fact   // of one that stands alone
	Sides   *sidesView
	Benches []oneBench
	// Own and Given are whose the servers were, of some of the benchmarks: the lab's, or somebody else's.
	Own, Given bool
}

// oneBench is what the template shows of one of them.
type oneBench struct {
	Name     string // "" if it stands alone
	Facts    []fact
	Tables   []benchTableView
	Plots    []plotGroup
	Failures []benchFailure
	Disk     string
	Others   []string // what others have measured
}

type benchTableView struct {
	Title, Intro string
	Told         []string
	Columns      []benchColumn
	Rows         []benchRow
	Of           string // the benchmark's name
}

type benchRow struct {
	Lock  string
	Cells []string
}

func newBenchView(list []namedBench) *benchView {
	v := &benchView{}
	for _, b := range list {
		given := b.Main() == cost.Given
		v.Own, v.Given = v.Own || !given, v.Given || given
		for _, r := range benchRemarks(b.Bench) {
			v.Remarks = append(v.Remarks, b.titled(r))
		}
		one := oneBench{Name: b.name, Facts: benchFacts(b.Bench), Disk: diskRemark(b.Bench), Failures: benchFailures(b.Bench), Others: benchOthers(b.Bench)}
		for _, t := range benchTables(b.Bench) {
			one.Tables = append(one.Tables, t.view(b.Plan.Algorithms, b.name))
		}
		v.Benches = append(v.Benches, one)
	}
	if len(list) == 1 {
		v.Facts = v.Benches[0].Facts
	} else {
		v.Sides = newSides(list)
	}
	return v
}

// addCost puts the benchmarks on the page, and what is wrong with them.
func (v *view) addCost(list []namedBench, err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.CostError = err.Error()
	}
	if len(list) == 0 {
		return
	}
	v.Cost = newBenchView(list)
	if v.CostError != "" {
		v.Cost.Remarks = append(v.Cost.Remarks, "Another benchmark could not be read: "+v.CostError)
	}
}

// titled puts the benchmark's name before s, where it has one.
func (b namedBench) titled(s string) string {
	if b.name == "" {
		return s
	}
	return b.name + ": " + s
}

func (t benchTable) view(locks []string, of string) benchTableView {
	v := benchTableView{Title: t.Title, Intro: t.Intro, Told: t.Told, Columns: t.Columns, Of: of}
	for _, lock := range locks {
		row := benchRow{Lock: lock}
		for _, c := range t.Columns {
			row.Cells = append(row.Cells, c.show(lock))
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// addPlots writes the plots of the benchmarks into dir, and puts them on the page.
func (v *benchView) addPlots(dir string, list []namedBench) (err error) {
	for i, b := range list {
		groups := benchPlots(b.Bench)
		for g := range groups {
			if b.name != "" {
				groups[g].call(fmt.Sprintf("%d-", i+1), b)
			}
			if groups[g].Plots, err = writePlots(dir, groups[g].figures); err != nil {
				return err
			}
		}
		v.Benches[i].Plots = groups
	}
	if v.Sides != nil {
		v.Sides.Plots, err = writePlots(dir, sidesFigures(list))
	}
	return err
}

// call makes the names of the figures those of one benchmark among several.
func (g plotGroup) call(prefix string, b namedBench) {
	for i := range g.figures {
		f := &g.figures[i]
		f.File, f.Title = prefix+f.File, b.titled(f.Title)
	}
}

func benchFacts(b *cost.Bench) []fact {
	p := b.Plan
	facts := planFacts{}
	if !p.Made.IsZero() {
		facts.days.add(p.Made.Format("2 January 2006"))
	}
	facts.labs.add(labOf(p.Lab, p.Addrs))
	facts.ttls.add(length(p.TTL))
	facts.seeds.add(fmt.Sprint(p.Seed))
	facts.machine(p.Machine)
	facts.versioned(p.Versions)
	measured := []fact{
		{Name: "Rounds", Value: rounds(b)},
		{Name: "Baseline", Value: p.Baseline},
		{Name: "Budget", Value: length(p.Budget)},
		{Name: "Distances (--latency)", Value: strings.Trim(fmt.Sprint(p.Distances), "[]")},
	}
	if p.Short {
		measured = append(measured, fact{Name: "Curves", Value: "left out (--short)"})
	}
	if p.Rate > 0 {
		measured = append(measured, fact{Name: "Rate of the open loop", Value: fmt.Sprintf("%v/s", p.Rate)})
	}
	if c := b.Cores; c != nil && c.Left == "" {
		measured = append(measured, fact{Name: "Cores", Value: fmt.Sprintf("clients on %s, servers on %s", cores(c.Clients), cores(c.Servers))})
	}
	measured = slices.DeleteFunc(measured, func(f fact) bool { return f.Value == "" })
	return append(measured, facts.facts()...)
}

// newBenchPage is the page of benchmarks without runs, with its plots in their directory.
func newBenchPage(list []namedBench, plots string, brief bool) (v *benchView, err error) {
	v = newBenchView(list)
	if !brief {
		err = v.addPlots(plots, list)
	}
	return v, err
}

// rounds are how many of those planned were done, and how many more.
func rounds(b *cost.Bench) string {
	if more := b.Rounds - b.Plan.Rounds; more > 0 {
		return fmt.Sprintf("%d, and %d more of those rows that were not sure", b.Plan.Rounds, more)
	}
	return fmt.Sprintf("%d of %d", b.Rounds, b.Plan.Rounds)
}
