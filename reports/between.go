package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Between are two locks of one matrix, of one benchmark, or of both, side by side: what it would
// bring to move from the first to the second.
type Between struct {
	Compared // of the first lock and the second, each cell and figure by the name of both
	In       string
	bench    *cost.Bench
	groups   []alike
}

// alike are faults under which the two locks stand to each other in one way.
type alike struct {
	title string
	says  string // in a sentence, with %s for the number of cells
	pairs []pair
}

// CompareLocks puts two locks of what was saved in a directory or file side by side. least is the
// least difference of a figure that counts, see [gate.Measured].
func CompareLocks(a, b, in string, of rundir.Saved, least float64) (Between, error) {
	both := a + " → " + b
	base, err := of.Lock(a, both)
	if err != nil {
		return Between{}, err
	}
	head, err := of.Lock(b, both)
	if err != nil {
		return Between{}, err
	}
	v := Between{Compared: Compare(a, b, base, head, least), In: in, bench: of.Bench, groups: []alike{
		{title: b + " is better under", says: b + " is better in %s"},
		{title: b + " is worse under", says: "worse in %s"},
		{title: "Not the same, and neither is better, under", says: "hurt in another way in %s"},
		{title: "The same under", says: "the same in %s"},
		{title: "One of them proves nothing, was not tried, or has no such fault (n/a), under", says: "not to be compared in %s"},
	}}
	for _, c := range base.Cells {
		v.put(pair{Base: &c, Head: under(c.Fault, head.Cells)})
	}
	for _, c := range head.Cells {
		if under(c.Fault, base.Cells) == nil {
			v.put(pair{Head: &c})
		}
	}
	return v, nil
}

func under(fault string, cells []checker.Cell) *checker.Cell {
	for i := range cells {
		if cells[i].Fault == fault {
			return &cells[i]
		}
	}
	return nil
}

func (v *Between) put(p pair) {
	if none := lb.NotAvailable; p.Base != nil && p.Head != nil && p.Base.Outcome == none && p.Head.Outcome == none {
		return
	}
	group := 4
	if proves(p.Base) && proves(p.Head) {
		switch there, back := trendOf(p.Base, p.Head), trendOf(p.Head, p.Base); {
		case there == gate.Same:
			group = 3
		case there == gate.Better:
			group = 0
		case back == gate.Better:
			group = 1
		default: // also where one hurt less, but by a double grant
			group = 2
		}
	}
	v.groups[group].pairs = append(v.groups[group].pairs, p)
}

// trendOf is how the second cell stands to the first.
func trendOf(a, b *checker.Cell) gate.Trend {
	for _, ch := range gate.Compare([]checker.Cell{*a}, []checker.Cell{*b}) {
		return ch.Trend
	}
	return gate.Same
}

// proves reports whether the cell was run, and says something.
func proves(c *checker.Cell) bool { return c != nil && !notRun(c) && c.Outcome.Decided() }

// Summary is what the cells and the figures say in a few sentences.
func (v Between) Summary() string {
	var parts []string
	for _, g := range v.groups {
		if n := len(g.pairs); n > 0 || g.title == v.groups[0].title || g.title == v.groups[1].title {
			parts = append(parts, fmt.Sprintf(g.says, cells(n)))
		}
	}
	s := strings.Join(parts, ", ") + "."
	if len(v.Base)+len(v.Head) == 0 {
		return "Only what they cost was measured."
	}
	return s
}

func cells(n int) string {
	if n == 0 {
		return "no cell"
	}
	return english.Count(n, "cell")
}

// pricePair is one figure of both locks, as it was measured in the same rounds on the same machine: a
// yardstick, by which a slower machine is told from a slower lock, would take out here what is the
// server's.
type pricePair struct{ Name, Base, Head, Ratio string }

// deciding are the measures by which one chooses between two locks; the others explain these.
// Alone, grants per second say what the cycle does.
var deciding = []cost.Measure{cost.Cycle, cost.Grants, cost.P50, cost.P99, cost.Requests, cost.Outage}

func (v Between) prices() (list []pricePair) {
	for _, m := range deciding {
		for _, f := range v.Performance.Figures {
			some := f.Clients > 1 && f.Clients < cost.Contenders // part of a curve
			if f.Measure != m || some || m == cost.Grants && f.Clients == 1 {
				continue
			}
			list = append(list, pricePair{figureName(f), inUnit(f.Unit, f.Itself.Base), inUnit(f.Unit, f.Itself.Head), ratio(f.Itself.Difference)})
		}
	}
	return list
}

// ratio is the second lock's figure in terms of the first's.
func ratio(d *cost.Difference) string {
	switch {
	case d == nil:
		return absent
	case d.Low == 1 && d.High == 1:
		return "the same in every round"
	case d.Confidence > 0 && d.Low <= 1 && d.High >= 1:
		return "no difference shown (" + interval(d) + ")"
	}
	return factor(d.Ratio) + " (" + interval(d) + ")"
}

const pricesTitle = "What they cost: medians of one benchmark, and the second in terms of the first, with its 95% interval"

const betweenNote = "Each cell is the worst of its runs, of which so many hurt somebody. Where there are few, what differs may be chance: see --runs of matrix."

// Terminal writes both side by side for a terminal of this width.
func (v Between) Terminal(w io.Writer, color bool, width int) error {
	t := terminal{Writer: bufio.NewWriter(w), color: color, width: max(width, minWidth)}
	t.text("", v.BaseName+" or "+v.HeadName+", by "+v.In)
	t.text("", v.Summary())
	fault, base := 0, len(v.BaseName)
	for _, g := range v.groups {
		for _, p := range g.pairs {
			fault, base = max(fault, len(p.fault())), max(base, len(inShort(p.Base)))
		}
	}
	for _, g := range v.groups {
		if len(g.pairs) == 0 {
			continue
		}
		t.line("")
		t.line(t.paint("1", g.title))
		t.line("  " + pad("", fault) + "  " + pad(v.BaseName, base) + "  " + v.HeadName)
		for _, p := range g.pairs {
			t.line("  " + pad(p.fault(), fault) + "  " + pad(inShort(p.Base), base) + "  " + inShort(p.Head))
		}
	}
	if len(v.Base)+len(v.Head) > 0 {
		t.line("")
		t.text("", betweenNote)
	}
	t.prices(v)
	t.text("", v.noise())
	return t.Flush()
}

func (t terminal) prices(v Between) {
	list := v.prices()
	if len(list) == 0 {
		return
	}
	name, base, head := 0, len(v.BaseName), len(v.HeadName)
	for _, p := range list {
		name, base, head = max(name, len(p.Name)), max(base, utf8.RuneCountInString(p.Base)), max(head, utf8.RuneCountInString(p.Head))
	}
	t.line("")
	t.text("", t.paint("1", pricesTitle))
	t.line("  " + pad("", name) + "  " + pad(v.BaseName, base) + "  " + v.HeadName)
	for _, p := range list {
		t.line("  " + pad(p.Name, name) + "  " + pad(p.Base, base) + "  " + pad(p.Head, head) + "  " + p.Ratio)
	}
}

// Markdown writes the same for a page.
func (v Between) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "## %s or %s, by %s\n\n%s\n", escapeMD(v.BaseName), escapeMD(v.HeadName), escapeMD(v.In), escapeMD(v.Summary()))
	for _, g := range v.groups {
		for i, p := range g.pairs {
			if i == 0 {
				fmt.Fprintf(b, "\n**%s**\n\n| fault | %s | %s |\n|---|---|---|\n", escapeMD(g.title), escapeMD(v.BaseName), escapeMD(v.HeadName))
			}
			fmt.Fprintf(b, "| %s | %s | %s |\n", escapeMD(p.fault()), escapeMD(inShort(p.Base)), escapeMD(inShort(p.Head)))
		}
	}
	if len(v.Base)+len(v.Head) > 0 {
		fmt.Fprintf(b, "\n%s\n", escapeMD(betweenNote))
	}
	for i, p := range v.prices() {
		if i == 0 {
			fmt.Fprintf(b, "\n%s\n\n| | %s | %s | |\n|---|--:|--:|---|\n", pricesTitle, escapeMD(v.BaseName), escapeMD(v.HeadName))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", escapeMD(p.Name), escapeMD(p.Base), escapeMD(p.Head), escapeMD(p.Ratio))
	}
	if noise := v.noise(); noise != "" {
		fmt.Fprintf(b, "\n%s\n", escapeMD(noise))
	}
	return b.Flush()
}

// noise says what disturbed the benchmark, "" where nothing did or there is none.
func (v Between) noise() string {
	if v.bench == nil || len(v.bench.Noise) == 0 {
		return ""
	}
	return "The machine was not quiet, which hits the locks of each round alike, but not to the same degree: " + strings.Join(v.bench.Noise, "; ") + "."
}

func (p pair) fault() string {
	if p.Base == nil {
		return p.Head.Fault
	}
	return p.Base.Fault
}

// inShort is a cell in some words.
func inShort(c *checker.Cell) string {
	if c == nil {
		return "not tried"
	}
	s := word(c)
	if c.Mechanism != "" {
		s += " " + c.Mechanism
	}
	if proves(c) {
		s += fmt.Sprintf(" %d/%d", c.Violations, c.Runs)
	}
	return s
}
