package reports

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
	Cause    string // what freed a lock that was held, as far as can be seen
	Moments  []momentRow
	Others   int
	// Story are the moves of an order that was explored.
	Story []string
	More  []string // further findings
	Notes []string
	// Events and Logs lead to the run's files; Drawn to porcupine's own picture.
	Events, Logs []link
	Drawn        *link
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

// program names the one that ran a plan. The page calls it by its name alone: whoever
// reads the page may have it elsewhere.
func program(p history.Plan) string {
	if p.About == nil || p.About.Program == "" {
		return "lockbench"
	}
	return p.About.Program
}

func newDetail(c *checker.Cell, r record, at place) detail {
	d := detail{Cell: c, Judged: true, Runs: ofRuns(c), Copies: copyRows(c.Copies), Notes: r.notes}
	if r.run == nil {
		p := history.Plan{Algorithm: c.Algorithm, Fault: c.Fault, Seed: c.Seed}
		d.Command = Command(program(p), p)
		return d
	}
	d.Command, d.Story = commandFor(r.run), storyOf(r.run.Plan)
	if len(d.Story) > 0 {
		d.Runs = "" // one order is no sample
	}
	d.Events, d.Logs = at.files(r.run)
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
	d.Circle = circle(runName(r.run.Plan), f.Circle)
	d.Drawn = porcupineOf(c, r, at)
	if s := newScene(r.history, *f, r.run.Plan); s != nil {
		if len(d.Story) > 0 {
			s.of = c.Algorithm + " under " + c.Fault
		}
		d.Timeline, d.Cause, d.Others = s.svg(), s.cause, s.others
		for _, m := range s.moments {
			d.Moments = append(d.Moments, momentRow{m.N, s.when(m.At), m.Client, m.Text, m.Bad})
		}
	}
	return d
}

// porcupineOf has porcupine draw the first of the run's findings that it confirmed; nil where
// there is none, or no place for the picture.
func porcupineOf(c *checker.Cell, r record, at place) *link {
	for _, l := range r.result.Layers {
		for _, f := range l.Findings {
			if l.Name != checker.LayerGrant || !f.Confirmed || r.history == nil {
				continue
			}
			file, to, missing := at.drawn(anchor(c))
			if missing && (at.readOnly || drawInto(file, r, f) != nil) {
				return nil // the page has its own picture of the same
			}
			return &to
		}
	}
	return nil
}

func drawInto(file string, r record, f checker.Finding) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return checker.Visualize(context.Background(), out, r.run.Plan, r.history, f)
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
