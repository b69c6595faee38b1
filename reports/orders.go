package reports

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/shell"
)

// addExplored reads the explorations in a directory of runs.
func (p *page) addExplored(dir string) {
	all, err := rundir.ExploredIn(dir)
	if err != nil {
		p.notes = append(p.notes, "An exploration could not be read: "+err.Error())
	}
	p.explored = append(p.explored, all...)
}

// loadOrders is the page of explorations alone: its cells are the orders that broke a lock.
func loadOrders(dir string) (*page, error) {
	p := &page{orders: true}
	var err error
	if p.explored, err = rundir.ExploredIn(dir); err != nil {
		return nil, err
	}
	runs := map[string]*rundir.Run{}
	for _, e := range p.explored {
		for _, v := range e.Violations {
			at := filepath.Join(e.Dir, filepath.FromSlash(v.Dir))
			r, err := rundir.OpenRun(at)
			if v.Dir == "" || err != nil {
				p.notes = append(p.notes, fmt.Sprintf("An order that shows %s could not be read: %v", v.Outcome, err))
				continue
			}
			c := cellOf(r)
			c.Fault, c.Dir = c.Fault+", "+strings.TrimSpace(string(c.Outcome)+" "+c.Mechanism), at // no two of a lock have both in common
			p.cells, runs[at] = append(p.cells, c), r
		}
	}
	p.run = func(c checker.Cell) (*rundir.Run, error) { return runs[c.Dir], nil }
	return p, nil
}

// ordersView is what a page says of the exploration of a lock.
type ordersView struct {
	Lock, Says string
	// Outcome is that of the orders that broke it, "" where none did.
	Outcome lb.Outcome
	// Short stands beside the lock's name.
	Short string
	Rest  []string
	// Links lead to the orders that broke it.
	Links []link
}

func newOrdersView(e *rundir.Explored, at place) ordersView {
	v := ordersView{Lock: e.Plan.Algorithm, Says: exploredSays(e), Rest: unwalked(e)}
	n, broken := e.Orders(), 0
	for _, o := range orderOutcomes {
		if rundir.Breaks(o) {
			broken += e.CameTo(o)
		}
	}
	switch v.Outcome = brokenAs(e); {
	case len(e.Replays) > 0:
		v.Short = replayed(e)
	case broken > 0:
		v.Short = thousands(broken) + " of " + countLarge(n, "order") + " break it"
		v.Says = strings.TrimPrefix(v.Says, string(v.Outcome)+" ") + ". The bounds: " + e.Within
	case e.Proves() != "":
		v.Short = countLarge(n, "order") + ", and not every one: none breaks it"
	default:
		v.Short = countLarge(n, "order") + ": none breaks it"
	}
	if e.Plan.Topology != "" { // the row may be of other servers
		v.Rest = append(v.Rest, "explored on "+e.Plan.Topology)
	}
	if astray, all := strays(e); astray > 0 {
		v.Rest = append(v.Rest, fmt.Sprintf("%s of %s did not go as planned, and are not counted: %s", thousands(astray), thousands(all), whyAstray(e)))
	}
	for _, o := range e.Violations {
		if o.Dir == "" {
			continue
		}
		how, _, _ := strings.Cut(o.Reason, ":") // an older lockbench wrote the mechanism there only
		v.Links = append(v.Links, link{fmt.Sprintf("%s by %s: %s", o.Outcome, o.Class.Fault(), cmp.Or(o.Mechanism, how)), path.Join(at.to(e.Dir), o.Dir, rundir.PageFile)})
	}
	return v
}

// ordersOf is what is known of every order of a row, nil where it was not explored. A row may name
// servers behind the lock.
func (v *view) ordersOf(row string) *ordersView {
	for i, o := range v.Orders {
		if o.Lock == row || strings.HasPrefix(row, o.Lock+" ") {
			return &v.Orders[i]
		}
	}
	return nil
}

// OrdersOf is [view.ordersOf], for the template.
func (v *view) OrdersOf(row string) *ordersView { return v.ordersOf(row) }

// commandFor is what performs a run again: an order by its schedule, which lies beside its plan.
func commandFor(r *rundir.Run) []string {
	if len(r.Plan.Order) == 0 {
		return Command(program(r.Plan), r.Plan)
	}
	dir := r.Dir
	if plain, err := filepath.EvalSymlinks(dir); err == nil { // "latest" is another directory tomorrow
		dir = plain
	}
	return []string{shell.Line(program(r.Plan), "explore"), shell.Line("--replay", cmp.Or(dir, "."))}
}

// storyOf are the moves of an order in sentences, nil for other runs.
func storyOf(p history.Plan) []string {
	if p.About == nil {
		return nil
	}
	return p.About.Story
}

// markdownOrders tells of the explorations, a line a lock.
func markdownOrders(b io.Writer, all []*rundir.Explored) {
	if len(all) == 0 {
		return
	}
	fmt.Fprint(b, "\nEvery order of a few clients:\n\n")
	for _, e := range all {
		fmt.Fprintf(b, "- **%s** on %s: %s.\n", escapeMD(e.Plan.Algorithm), escapeMD(e.Plan.Topology), escapeMD(exploredSays(e)))
	}
}
