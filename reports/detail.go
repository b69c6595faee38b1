package reports

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// detail is one cell that needs an explanation.
type detail struct {
	*checker.Cell
	Open bool
	// Judged is false where nobody has looked at the run yet.
	Judged   bool
	Runs     string
	Copies   []copyRow
	Layers   []checker.Layer
	Workload string   // what it says itself of the run
	Command  []string // its words, kept together with their values
	Timeline string
	Circle   string // who waits for whom, in a deadlock
	Moments  []momentRow
	Others   int
	More     []string // further findings
	Notes    []string
}

type copyRow struct {
	Name string
	checker.Copy
}

type momentRow struct {
	N          int
	At         string
	Client, Do string
	Bad        bool
}

// program is what the page calls it: whoever reads the page may have it elsewhere.
const program = "lockbench"

func newDetail(c *checker.Cell, r record) detail {
	d := detail{Cell: c, Judged: true, Runs: ofRuns(c), Copies: copyRows(c.Copies), Notes: r.notes}
	if r.run == nil {
		d.Command = Command(program, history.Plan{Algorithm: c.Algorithm, Fault: c.Fault, Seed: c.Seed})
		return d
	}
	d.Command = Command(program, r.run.Plan)
	if d.Judged = r.result != nil; !d.Judged {
		return d
	}
	d.Layers = r.result.Layers
	if i := slices.IndexFunc(d.Layers, func(l checker.Layer) bool { return l.Name == checker.LayerWorkload }); i >= 0 {
		d.Workload = d.Layers[i].Summary
	}
	f, rest := mainFinding(*r.result)
	if f == nil {
		return d
	}
	for _, o := range rest {
		d.More = append(d.More, o.Sentence)
	}
	d.Circle = circle(f.Circle)
	if s := newScene(r.history, *f, r.run.Plan); s != nil {
		d.Timeline, d.Others = s.svg(), s.others
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
func mainFinding(r checker.Result) (f *checker.Finding, rest []checker.Finding) {
	var list []checker.Finding
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

func rankOf(f checker.Finding, r checker.Result) int {
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

func copyRows(copies map[string]checker.Copy) []copyRow {
	var out []copyRow
	for _, name := range []string{"plain", "checked", "fenced"} {
		if c, ok := copies[name]; ok {
			out = append(out, copyRow{name, c})
		}
	}
	return out
}
