package reports

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/shell"
)

// view is what the page's template shows.
type view struct {
	Summary   string
	Single    bool
	Brief     bool
	Facts     []fact
	Standings []standing
	Grid      grid
	Broken    []*checker.Cell
	// Unfinished says what a matrix still lacks, and Waiting which cells.
	Unfinished string
	// Notes are what a reader must know of what was read together.
	Notes    []string
	Waiting  []waiting
	Failed   bool // a run
	Evidence []evidence
	Calm     []calmCell
	Absent   []absence
	Plots    []plotView
	// Cost is the benchmark that lies in the same directory, nil for none, and CostError
	// says why one that is there can't be shown.
	Cost      *benchView
	CostError string
	Quorum    *quorumView
	Stores    []storeView
	// QuorumError says why a study that is there can't be shown.
	QuorumError string
}

// evidence is the details of one algorithm. On a page with few of them all stand
// together, and Lock is empty.
type evidence struct {
	Lock    string
	Counts  []count
	Details []detail
}

const (
	// openDetails is up to how many details are shown unfolded.
	openDetails = 12
	// flatDetails is up to how many stand on the page without a fold around those
	// of each algorithm.
	flatDetails = 30
)

// newView reads the runs one after the other, so that only one history at a
// time is in memory. A brief one reads none.
func newView(p *page, brief bool) *view {
	g := newGrid(p.cells, p.planned)
	v := &view{Summary: g.summary(), Grid: g, Standings: g.standings(), Broken: g.inOrder(isBroken), Single: len(p.cells) == 1, Brief: brief}
	v.Unfinished, v.Waiting, v.Notes = g.unfinished(), waitingIn(g), p.notes
	v.Failed = len(g.inOrder(hasFailed)) > 0
	var plans planFacts
	var details []detail
	for _, c := range g.inOrder(func(c *checker.Cell) bool { return !notRun(c) }) {
		explain := isHurt(c) || isUnclear(c) || v.Single || isBroken(c)
		r := p.read(c, !brief && explain)
		if r.run != nil {
			plans.add(r.run.Plan, c.Runs)
			v.addStore(r.run.Plan)
		}
		switch {
		case explain:
			details = append(details, newDetail(c, r))
		case isCalm(c):
			v.Calm = append(v.Calm, calmCell{c, r.notes})
		}
	}
	v.Evidence = gather(details)
	if !v.Single {
		v.Absent = absences(g)
	}
	v.Facts = plans.facts()
	return v
}

// storeView is a database that kept the fenced copy, and what refused late writes there.
type storeView struct{ Name, Statement string }

func (v *view) addStore(p history.Plan) {
	if s := (storeView{p.Store, p.Statement}); p.Store != "" && !slices.Contains(v.Stores, s) {
		v.Stores = append(v.Stores, s)
	}
}

// gather puts the details of each algorithm together.
func gather(details []detail) []evidence {
	var out []evidence
	for _, d := range details {
		d.Open = len(details) <= openDetails
		lock := ""
		if len(details) > flatDetails {
			lock = d.Algorithm
		}
		if n := len(out); n == 0 || out[n-1].Lock != lock {
			out = append(out, evidence{Lock: lock})
		}
		e := &out[len(out)-1]
		e.Details = append(e.Details, d)
	}
	for i, e := range out {
		for _, k := range outcomes {
			if n := e.with(k.Outcome); n > 0 {
				out[i].Counts = append(out[i].Counts, count{k.Outcome, n})
			}
		}
	}
	return out
}

func (e evidence) with(o lb.Outcome) int {
	n := 0
	for _, d := range e.Details {
		if d.Outcome == o {
			n++
		}
	}
	return n
}

// Command is what runs p again with the program, to be pasted into a shell: the verb, and
// then each flag with its value.
func Command(program string, p history.Plan) []string {
	s := []string{shell.Line(program, "run")}
	add := func(flag, value string) {
		if value != "" && value != "0" && value != "0s" {
			s = append(s, shell.Line("--"+flag, value))
		}
	}
	add("algorithm", p.Algorithm)
	add("fault", p.Fault)
	add("workload", p.Workload)
	add("store", p.Store)
	add("lab", p.Lab)
	add("topology", p.Topology)
	add("clients", fmt.Sprint(p.Clients))
	add("processes", fmt.Sprint(p.Processes))
	add("ttl", p.TTL.String())
	add("duration", p.Duration.String())
	add("seed", fmt.Sprint(p.Seed))
	if p.First {
		s = append(s, "--first")
	}
	return s
}

// title says in one line what stands in a cell.
func title(c *checker.Cell) string {
	s := fmt.Sprintf("%s under %s: ", c.Algorithm, c.Fault)
	if s += word(c); c.Reason != "" && !notRun(c) {
		s += ". " + clip(c.Reason, 160)
	}
	if isBroken(c) {
		s += " Broken promise."
	}
	return s
}

// class is the style of a cell.
func class(c *checker.Cell) string {
	if notRun(c) {
		return "notrun"
	}
	return outcomeClass(c.Outcome)
}

// outcomeClass is the style of an outcome.
func outcomeClass(o lb.Outcome) string {
	if o == lb.NotAvailable {
		return "na"
	}
	return strings.ToLower(string(o))
}

// anchor is the id of a cell's detail on the page.
func anchor(c *checker.Cell) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '_'
	}, c.Algorithm+"."+c.Fault)
}
