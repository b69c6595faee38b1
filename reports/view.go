package reports

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/shell"
)

// view is what the page's template shows.
type view struct {
	Summary string
	Single  bool
	Brief   bool
	Facts   []fact
	// Warning says what the machine did to the runs, or "".
	Warning   string
	Standings []standing
	Advice    []advice
	// Unadvised are the locks of which no server died, and which are left out of it.
	Unadvised []string
	// Control says what became of the lock that grants to everybody; Blind: it was not
	// convicted everywhere.
	Control string
	Blind   bool
	Grid    grid
	Broken  []*checker.Cell
	// Unfinished says what a matrix still lacks, Waiting which cells, and Elsewhere which another shard has.
	Unfinished         string
	Waiting, Elsewhere []waiting
	// Notes are what a reader must know of what was read together.
	Notes  []string
	Failed bool // all runs of a cell
	// Details are those of a single run; those of a matrix are with its Locks.
	Details []detail
	Locks   []lockView
	Faults  []fact // what each does
	Absent  []absence
	Plots   []plotView
	// Cost is the benchmark that lies in the same directory, nil for none, and CostError
	// says why one that is there can't be shown.
	Cost      *benchView
	CostError string
	Quorum    *quorumView
	// Orders are the explorations of locks; OnlyOrders: there is nothing else.
	Orders     []ordersView
	OnlyOrders bool
	Stores     []storeView
	// QuorumError says why a study that is there can't be shown.
	QuorumError string

	bench *cost.Bench
}

// openDetails is up to how many details are shown unfolded.
const openDetails = 12

// newView reads the runs one after the other, so that only one history at a
// time is in memory. A brief one reads none.
func newView(p *page, bench *cost.Bench, at place, brief bool) *view {
	g := newGrid(p.cells, p.planned)
	v := &view{Summary: g.summary(), Grid: g, Standings: g.standings(), Broken: g.inOrder(isBroken), Single: len(p.cells) == 1 || p.orders, OnlyOrders: p.orders, Brief: brief, bench: bench}
	v.Unfinished, v.Waiting, v.Elsewhere, v.Notes = g.unfinished(), waitingIn(g, isMissing), waitingIn(g, isElsewhere), p.notes
	if s := g.clocks(); s != "" {
		v.Notes = append(slices.Clip(v.Notes), s)
	}
	v.Failed = len(g.inOrder(hasFailed)) > 0
	for _, e := range p.explored {
		v.Orders = append(v.Orders, newOrdersView(e, at))
	}
	if p.orders {
		v.Summary = "Every order of a few clients’ moves on a real server, up to bounds, each judged by itself."
	}
	var facts planFacts
	guarded, fenced, tried := false, map[string]bool{}, map[string][]history.Trouble{}
	for _, row := range g.Rows {
		var plan history.Plan
		var cells []lockCell
		var details []detail
		for _, c := range g.inRow(row, func(c *checker.Cell) bool { return !notRun(c) && (c.Outcome != lb.NotAvailable || isBroken(c)) }) {
			explain := isHurt(c) || isUnclear(c) || v.Single || isBroken(c)
			r := p.read(c, !brief && explain)
			if r.run != nil {
				plan = r.run.Plan
				facts.add(plan, c)
				v.addStore(plan)
				v.addFault(plan)
				tried[row] = append(tried[row], seenIn(c, &plan)...)
			}
			lc := lockCell{Cell: c, Explained: explain, Notes: r.notes, Files: at.directory(r.run)}
			if explain {
				details = append(details, newDetail(c, r, at))
			}
			cells = append(cells, lc)
		}
		guarded, fenced[row] = guarded || plan.Guarded, plan.Traits.Fenced
		if v.Single {
			v.Details = append(v.Details, details...)
			continue
		}
		lock := newLockView(g, row, plan, bench)
		lock.Cells, lock.Details = cells, details
		lock.Counts, lock.Orders = countsOf(cells), v.ordersOf(row)
		v.Locks = append(v.Locks, lock)
	}
	v.unfold()
	if !v.Single {
		v.Control, v.Blind = g.control(guarded)
		v.Advice, v.Unadvised = advisor{
			fenced: func(lock string) bool { return fenced[lock] },
			tried:  func(lock string) []history.Trouble { return tried[lock] },
			bench:  bench,
		}.advise(g)
		v.Absent = absences(g)
	}
	if len(v.Details) == 1 && len(v.Details[0].Story) > 0 && !p.orders {
		v.Summary = "One order of the moves of a few clients, to which an exploration came."
	}
	v.Facts, v.Warning = facts.facts(), facts.warning()
	return v
}

// unfold opens the details where there are few.
func (v *view) unfold() {
	n := len(v.Details)
	for _, l := range v.Locks {
		n += len(l.Details)
	}
	for i := range v.Details {
		v.Details[i].Open = true
	}
	for _, l := range v.Locks {
		for i := range l.Details {
			l.Details[i].Open = n <= openDetails
		}
	}
}

// Ranking is [ranking], for the template.
func (v *view) Ranking() string { return ranking(v.bench) }

// CostServers says with which servers the costs were measured.
func (v *view) CostServers() string {
	if v.bench.Main() == cost.Given {
		return "with servers as they were given, whatever they keep"
	}
	return "with servers that keep what they confirm on the disk"
}

// Price of a lock, for the template.
func (v *view) Price(lock string) price { return priceOf(v.bench, lock) }

// Explained reports whether any cell has its history drawn, so that a key is needed.
func (v *view) Explained() bool {
	return len(v.Details) > 0 || slices.ContainsFunc(v.Locks, func(l lockView) bool { return len(l.Details) > 0 })
}

// addFault keeps what the plan says of its fault.
func (v *view) addFault(p history.Plan) {
	if p.About == nil || p.About.Fault == "" || slices.ContainsFunc(v.Faults, func(f fact) bool { return f.Name == p.Fault }) {
		return
	}
	v.Faults = append(v.Faults, fact{Name: p.Fault, Value: p.About.Fault})
}

// Does says what a fault does, "" where no plan tells.
func (v *view) Does(fault string) string {
	for _, f := range v.Faults {
		if f.Name == fault {
			return f.Value
		}
	}
	return ""
}

// storeView is a database that kept the fenced copy, and what refused late writes there.
type storeView struct{ Name, Statement string }

func (v *view) addStore(p history.Plan) {
	if s := (storeView{p.Store, p.Statement}); p.Store != "" && !slices.Contains(v.Stores, s) {
		v.Stores = append(v.Stores, s)
	}
}

// countsOf counts the outcomes of cells that had a run.
func countsOf(cells []lockCell) (out []count) {
	for _, k := range outcomes {
		n := 0
		for _, c := range cells {
			if c.Outcome == k.Outcome {
				n++
			}
		}
		if n > 0 {
			out = append(out, count{k.Outcome, n})
		}
	}
	return out
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
	if p.Exec != nil {
		add("exec", shell.Line("cd", p.Exec.Dir)+" && "+p.Exec.Command) // wherever it is pasted
	} else {
		add("algorithm", p.Algorithm)
	}
	add("fault", p.Fault)
	add("faults-at-once", fmt.Sprint(p.FaultsAtOnce))
	add("workload", p.Workload)
	add("work", p.Work)
	add("store", p.Store)
	add("lab", p.Lab)
	add("addrs", p.Addrs)
	add("topology", p.Topology)
	for _, option := range p.ServerOptions {
		add("server-option", option)
	}
	add("server-binary", p.ServerBinary)
	add("image", p.ServerImage)
	add("clients", fmt.Sprint(p.Clients))
	add("processes", fmt.Sprint(p.Processes))
	add("clocks", p.Clocks)
	add("ttl", p.TTL.String())
	add("duration", p.Duration.String())
	add("seed", fmt.Sprint(p.Seed))
	add("require", string(p.Require))
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
func anchor(c *checker.Cell) string { return escaped(c.Algorithm + "." + c.Fault) }

// escaped makes a name fit for an id, and for a file.
func escaped(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '_'
	}, name)
}

// Link is where the page explains a cell.
func (v *view) Link(c *checker.Cell) string {
	if notRun(c) {
		return "notrun"
	}
	for _, a := range v.Absent {
		if c.Outcome == lb.NotAvailable && slices.Contains(a.Faults, c.Fault) && slices.Contains(a.Locks, c.Algorithm) {
			return a.ID
		}
	}
	return anchor(c)
}
