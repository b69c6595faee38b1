package gate

import (
	"cmp"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Place is an algorithm under a fault, with all runs of it.
type Place struct {
	Algorithm, Fault string
	// Group and Servers are as in [checker.Cell].
	Group, Servers string
	// Planned is how many runs there should be.
	Planned int
	// None is why there can be none, or "", and Lacks why there is none yet.
	None, Lacks string

	results []checker.Result
	dirs    []string
	saved   *checker.Cell // all that is known, nil where there are results
}

// Saved are the places of cells of which nothing but themselves was saved.
func Saved(s rundir.Saved) (places []*Place) {
	for i := range s.Cells {
		c := &s.Cells[i]
		p := &Place{Algorithm: c.Algorithm, Fault: c.Fault, Servers: c.Servers, saved: c}
		if c.Outcome != lb.NotAvailable {
			p.Planned = cmp.Or(c.Planned, s.Planned)
		}
		places = append(places, p)
	}
	return places
}

// Once are the places, each of them once. Of one that a shard left to the others, or that has no runs
// yet, what another has of it counts. Two with runs can't be told apart: they are an error.
func Once(places []*Place) (once []*Place, err error) {
	at := map[[2]string]int{} // where in once it stands
	for _, p := range places {
		row := checker.Cell{Algorithm: p.Algorithm, Servers: p.Servers}
		key := [2]string{row.Row(), p.Fault}
		i, there := at[key]
		switch {
		case !there:
			at[key] = len(once)
			once = append(once, p)
		case p.runs() > 0 && once[i].runs() > 0:
			return nil, fmt.Errorf("two of these hold runs of %s under %s: name one of them, or the directories of both", key[0], key[1])
		case p.runs() > 0 || once[i].elsewhere():
			once[i] = p
		}
	}
	return once, nil
}

func (p *Place) runs() int {
	if p.saved != nil {
		return p.saved.Runs
	}
	return len(p.results)
}

func (p *Place) elsewhere() bool {
	return p.runs() == 0 && (p.Lacks == rundir.Elsewhere || p.saved != nil && p.saved.Reason == rundir.Elsewhere)
}

// kept is the saved cell. Where the file says nothing of it, it is as it was judged then;
// otherwise its worst run, of which it tells, is held to the file.
func (p *Place) kept(c Config) (j Judged, n int) {
	j.Cell = *p.saved
	var declared *lb.Expectation // by the lock, of which only what came of it was saved
	if j.Promise != "" {
		declared = &lb.Expectation{}
	}
	e, n := c.Expect(p.Algorithm, p.Fault, declared)
	if e == declared || j.Runs == 0 {
		return j, n
	}
	info := lb.Info{Name: p.Algorithm, Expect: []lb.Expectation{*e}}
	info.Expect[0].Fault = p.Fault
	worst := checker.Result{Outcome: j.Outcome, Mechanism: j.Mechanism, Plan: history.Plan{Algorithm: p.Algorithm, Fault: p.Fault}}
	again := checker.Merge([]checker.Result{worst}, info)
	j.Promise, j.Expected = again.Promise, again.Expected
	if j.Outcome == lb.Inconclusive && j.Violations > 0 { // its worst run proved nothing, and was hurt all the same
		j.Promise = checker.PromiseBroken
	}
	return j, n
}

// Read reads the results of runs and of matrices, as [rundir.Join] joins them: the same
// algorithm under the same fault, on the same servers, is one place, in whichever directories
// its runs are. The notes say in what the directories differ, and what is not counted.
func Read(dirs []string) (places []*Place, notes []string, err error) {
	joined, err := rundir.Join(dirs)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range joined.Cells {
		p := &Place{Algorithm: c.Algorithm, Fault: c.Fault, Group: c.Group, Servers: c.Servers}
		if c.Outcome == lb.NotAvailable {
			p.None = c.Reason
		} else {
			p.Planned = cmp.Or(c.Planned, joined.Planned)
		}
		if c.Runs == 0 {
			p.Lacks = c.Reason
		}
		p.results, p.dirs = joined.Results(i)
		places = append(places, p)
	}
	return places, joined.Notes, nil
}

// Judged is a cell, with the plan of the run that decides it.
type Judged struct {
	checker.Cell
	// Plan is that of no run where there is none.
	Plan history.Plan
}

// cell makes the cell of the place, by what must come out there. blind says why a break
// that must be seen again can't have been: the fault took effect in no run.
func (p *Place) cell(c Config) (j Judged, blind string, n int) {
	if p.saved != nil {
		j, n := p.kept(c)
		return j, "", n
	}
	if len(p.results) == 0 {
		j.Cell = rundir.Pending(checker.Cell{Algorithm: p.Algorithm, Group: p.Group, Fault: p.Fault})
		j.Reason = cmp.Or(p.Lacks, j.Reason)
		if p.None != "" {
			j.Outcome, j.Reason = lb.NotAvailable, p.None
		}
		j.Servers = p.Servers
		_, n = c.Expect(p.Algorithm, p.Fault, nil)
		return j, "", n
	}
	e, n := c.Expect(p.Algorithm, p.Fault, p.results[0].Plan.Expect)
	info := lb.Info{Name: p.Algorithm}
	if e != nil {
		info.Expect = []lb.Expectation{*e}
		info.Expect[0].Fault = p.Fault
	}
	i := checker.Decisive(p.results, info)
	j.Cell, j.Plan = checker.Merge(p.results, info), p.results[i].Plan
	j.Dir, j.Servers = p.dirs[i], p.Servers
	if e != nil && !slices.Contains(e.Outcomes, lb.Safe) && j.Violations == 0 && !p.bit() {
		blind = j.Reason
	}
	return j, blind, n
}

// bit reports whether the fault took effect in some run, or no run came to its end.
func (p *Place) bit() bool {
	ended := false
	for _, r := range p.results {
		if r.Effect.Proven {
			return true
		}
		ended = ended || !r.Failed
	}
	return !ended
}
