package reports

import (
	"fmt"
	"strings"
	"time"

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
	Details   []detail
	Calm      []*lockbench.Cell
	Latency   []latencyRow
	Plots     []plotView

	latencies []latencySeries
}

type fact struct{ Name, Value string }

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

// openDetails is up to how many details are shown unfolded.
const openDetails = 12

// newView reads the runs one after the other, so that only one history at a
// time is in memory.
func newView(p *Page) *view {
	g := newGrid(p.Cells)
	v := &view{Summary: g.summary(), Grid: g, Standings: g.standings(), Broken: g.inOrder(isBroken), Single: len(p.Cells) == 1}
	var plans planFacts
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
			v.Calm = append(v.Calm, c)
			continue
		}
		if err != nil {
			notes = append(notes, "Its files could not be read: "+err.Error())
		}
		v.Details = append(v.Details, newDetail(c, run, h, notes))
	}
	for i := range v.Details {
		v.Details[i].Open = len(v.Details) <= openDetails
	}
	v.Facts = plans.facts()
	return v
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

// planFacts gathers where the cells were run, for the page's head.
type planFacts struct {
	days, labs, topologies, workloads, clients, ttls, durations, runs, seeds set
}

// set keeps the distinct values in the order of first appearance.
type set []string

func (s *set) add(v string) {
	for _, x := range *s {
		if x == v {
			return
		}
	}
	if v != "" {
		*s = append(*s, v)
	}
}

func (f *planFacts) add(p lockbench.Plan, runs int) {
	if !p.Made.IsZero() {
		f.days.add(p.Made.Format("2 January 2006"))
	}
	f.labs.add(p.Lab)
	f.topologies.add(p.Topology)
	f.workloads.add(p.Workload)
	if p.Clients > 0 {
		f.clients.add(fmt.Sprintf("%d in %s", p.Clients, plural(p.Processes, "process", "processes")))
	}
	f.ttls.add(length(p.TTL))
	f.durations.add(length(p.Duration))
	if runs > 0 {
		f.runs.add(fmt.Sprint(runs))
	}
	f.seeds.add(fmt.Sprint(p.Seed))
}

func length(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return span(float64(d) / 1e6)
}

func (f *planFacts) facts() []fact {
	var out []fact
	add := func(name string, s set) {
		switch {
		case len(s) > 6:
			out = append(out, fact{name, fmt.Sprintf("%d different, see each cell", len(s))})
		case len(s) > 0:
			out = append(out, fact{name, strings.Join(s, ", ")})
		}
	}
	add("Run on", f.days)
	add("Lab", f.labs)
	add("Topologies", f.topologies)
	add("Workload", f.workloads)
	add("Clients", f.clients)
	add("Lease time (TTL)", f.ttls)
	add("Length of a run", f.durations)
	add("Runs a cell", f.runs)
	add("Seed", f.seeds)
	return out
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
