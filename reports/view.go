package reports

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench"
)

// view is what the page's template shows.
type view struct {
	Summary   string
	Single    bool
	Facts     []fact
	Standings []standing
	Grid      grid
	Broken    []*lockbench.Cell
	Evidence  []evidence
	Calm      []*lockbench.Cell
	Absent    []absence
	Latency   []latencyRow
	Plots     []plotView
	Quorum    *quorumView
	// QuorumError says why a study that is there can't be shown.
	QuorumError string

	latencies []latencySeries
}

// evidence is the details of one algorithm. On a page with few of them all stand
// together, and Lock is empty.
type evidence struct {
	Lock    string
	Counts  []count
	Details []detail
}

// detail is one cell that needs an explanation.
type detail struct {
	*lockbench.Cell
	Open     bool
	Runs     string
	Copies   []copyRow
	Layers   []lockbench.Layer
	Command  []string // its words, kept together with their values
	Timeline string
	Moments  []momentRow
	Others   int
	More     []string // further findings
	Notes    []string
}

type copyRow struct {
	Name string
	lockbench.Copy
}

type momentRow struct {
	N          int
	At         string
	Client, Do string
	Bad        bool
}

const (
	// openDetails is up to how many details are shown unfolded.
	openDetails = 12
	// flatDetails is up to how many stand on the page without a fold around those
	// of each algorithm.
	flatDetails = 30
)

// newView reads the runs one after the other, so that only one history at a
// time is in memory.
func newView(p *Page) *view {
	g := newGrid(p.Cells)
	v := &view{Summary: g.summary(), Grid: g, Standings: g.standings(), Broken: g.inOrder(isBroken), Single: len(p.Cells) == 1}
	var plans planFacts
	var details []detail
	for _, c := range g.inOrder(func(*lockbench.Cell) bool { return true }) {
		run, err := p.Run(*c)
		if err == nil {
			plans.add(run.Plan, c.Runs)
		}
		explain := isHurt(c) || isUnclear(c) || v.Single || isBroken(c)
		var h lockbench.History
		var notes []string
		if err == nil && (explain || c.Fault == noFault) {
			h, notes, err = run.History()
		}
		if c.Fault == noFault && len(h) > 0 {
			v.latencies = append(v.latencies, latencySeries{c.Algorithm, acquireLatencies(h)})
		}
		if !explain {
			continue
		}
		if err != nil {
			notes = append(notes, "Its files could not be read: "+err.Error())
		}
		details = append(details, newDetail(c, run, h, notes))
	}
	v.Evidence = gather(details)
	if !v.Single {
		v.Calm, v.Absent = g.inOrder(isCalm), absences(g)
	}
	v.Facts = plans.facts()
	return v
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

func (e evidence) with(o lockbench.Outcome) int {
	n := 0
	for _, d := range e.Details {
		if d.Outcome == o {
			n++
		}
	}
	return n
}

func newDetail(c *lockbench.Cell, run *Run, h lockbench.History, notes []string) detail {
	d := detail{Cell: c, Runs: ofRuns(c), Copies: copyRows(c.Copies), Notes: notes}
	if run == nil {
		d.Command = command(lockbench.Plan{Algorithm: c.Algorithm, Fault: c.Fault, Seed: c.Seed})
		return d
	}
	d.Command, d.Layers = command(run.Plan), run.Result.Layers
	d.Notes = append(d.Notes, run.Result.Notes...)
	f, rest := mainFinding(run.Result)
	if f == nil {
		return d
	}
	for _, o := range rest {
		d.More = append(d.More, o.Sentence)
	}
	if s := newScene(h, *f, run.Plan); s != nil {
		d.Timeline, d.Others = s.svg(*f), s.others
		for _, m := range s.moments {
			d.Moments = append(d.Moments, momentRow{m.N, s.when(m.At), m.Client, m.Text, m.Bad})
		}
	}
	return d
}

// maxMore bounds the further findings that the page lists of a run.
const maxMore = 5

// mainFinding picks the finding to draw: the one that the run's reason tells.
// The others come back without those that say the same.
func mainFinding(r lockbench.RunResult) (f *lockbench.Finding, rest []lockbench.Finding) {
	var list []lockbench.Finding
	seen := make(map[string]bool)
	for _, l := range r.Layers {
		for _, x := range l.Findings {
			if !seen[x.Sentence] {
				seen[x.Sentence] = true
				list = append(list, x)
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	best := 0
	for i, x := range list {
		if rankOf(x, r) > rankOf(list[best], r) {
			best = i
		}
	}
	rest = append(list[:best:best], list[best+1:]...)
	return &list[best], rest[:min(len(rest), maxMore)]
}

func rankOf(f lockbench.Finding, r lockbench.RunResult) int {
	n := 0
	if f.Sentence != "" && strings.Contains(r.Reason, f.Sentence) {
		n += 4
	}
	if f.Mechanism != "" && strings.HasPrefix(r.Reason, f.Mechanism) {
		n += 2
	}
	if f.Layer == "store" { // it shows the harm, not only the cause
		n++
	}
	return n
}

func copyRows(copies map[string]lockbench.Copy) []copyRow {
	var out []copyRow
	for _, name := range []string{"plain", "checked", "fenced"} {
		if c, ok := copies[name]; ok {
			out = append(out, copyRow{name, c})
		}
	}
	return out
}

// command is what runs p again.
func command(p lockbench.Plan) []string {
	s := []string{"lockbench run"}
	add := func(flag, value string) {
		if value != "" && value != "0" && value != "0s" {
			s = append(s, "--"+flag+" "+value)
		}
	}
	add("algorithm", p.Algorithm)
	add("fault", p.Fault)
	add("workload", p.Workload)
	add("lab", p.Lab)
	add("topology", p.Topology)
	add("clients", fmt.Sprint(p.Clients))
	add("processes", fmt.Sprint(p.Processes))
	add("ttl", p.TTL.String())
	add("duration", p.Duration.String())
	add("seed", fmt.Sprint(p.Seed))
	return s
}

// class is the style of an outcome.
func class(o lockbench.Outcome) string {
	if o == lockbench.NotAvailable {
		return "na"
	}
	return strings.ToLower(string(o))
}

// anchor is the id of a cell's detail on the page.
func anchor(c *lockbench.Cell) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '_'
	}, c.Algorithm+"."+c.Fault)
}
