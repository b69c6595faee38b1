package reports

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Trend are several sets of runs, the oldest first: what became of each cell and of each cost.
type Trend struct {
	Names []string
	// Cells are those that are not the same in all sets in which they were run, and Steady counts the others.
	Cells  []trendRow
	Steady int
	// Costs are the figures that differ between the first benchmark and the last, or that the last has not.
	Costs []trendRow
	// figures are all that were compared.
	figures []gate.Figure
}

// trendRow is a cell or a figure in each set, absent where the set does not have it.
type trendRow struct {
	Name   string
	Values []string
	Says   string // of the last beside the first
	// Told is what the values don't show.
	Told string
}

// NewTrend compares sets of runs under their names. A cell differs if [gate.Compare] says so of the first set in
// which it was run and another, and a figure if [gate.Measured] does of the first benchmark and the last, with the
// least difference that counts.
func NewTrend(names []string, sets []rundir.Saved, least float64) Trend {
	t := Trend{Names: names}
	t.addCells(sets)
	t.addCosts(sets, least)
	return t
}

func (t *Trend) addCells(sets []rundir.Saved) {
	type key struct{ row, fault string }
	var first []checker.Cell // of each cell
	told := map[key]string{}
	for i, s := range sets {
		ran := slices.DeleteFunc(slices.Clone(s.Cells), func(c checker.Cell) bool { return rundir.IsPending(&c) })
		for _, ch := range gate.Compare(first, ran) {
			switch {
			case ch.Base == nil:
				first = append(first, *ch.Head)
			case ch.Head != nil:
				told[key{ch.Algorithm, ch.Fault}] = fmt.Sprintf("%d: %s", i+1, strings.Join(ch.What, "; "))
			}
		}
	}
	for _, c := range first {
		at := key{c.Row(), c.Fault}
		if told[at] == "" {
			t.Steady++
			continue
		}
		row, seen := trendRow{Name: at.row + " × " + at.fault}, set{}
		for _, s := range sets {
			value := cellIn(s.Cells, at.row, at.fault)
			row.Values = append(row.Values, value)
			if value != absent {
				seen.add(value)
			}
		}
		if len(seen) == 1 {
			row.Told = told[at]
		}
		t.Cells = append(t.Cells, row)
	}
}

// cellIn is what a cell came to in a set, in a word or two.
func cellIn(cells []checker.Cell, row, fault string) string {
	i := slices.IndexFunc(cells, func(c checker.Cell) bool { return c.Row() == row && c.Fault == fault })
	if i < 0 || rundir.IsPending(&cells[i]) {
		return absent
	}
	return strings.TrimSpace(word(&cells[i]) + " " + howShort(&cells[i]))
}

func (t *Trend) addCosts(sets []rundir.Saved, least float64) {
	var benches []*cost.Bench
	for _, s := range sets {
		if s.Bench != nil {
			benches = append(benches, s.Bench)
		}
	}
	if len(benches) < 2 {
		return
	}
	for _, f := range gate.Measured(benches[0], benches[len(benches)-1], least).Figures {
		if !slices.Contains(deciding, f.Measure) {
			continue
		}
		t.figures = append(t.figures, f)
		row := trendRow{Name: f.Algorithm + ", " + figureName(f), Says: string(f.Trend)}
		switch f.Trend {
		case gate.Worse, gate.Better, gate.Other:
			row.Says += " " + ratio(f.Counts().Difference)
			if f.Relative != nil {
				row.Says += ", held against the " + string(f.Yardstick)
			}
		case gate.Gone:
		default:
			continue
		}
		for _, s := range sets {
			row.Values = append(row.Values, absent)
			if s.Bench == nil {
				continue
			}
			if of := s.Bench.Figure(f.Key, f.Measure); of != nil {
				row.Values[len(row.Values)-1] = inUnit(f.Unit, &of.Summary)
			}
		}
		t.Costs = append(t.Costs, row)
	}
}

// Terminal writes the trend for a terminal of this width: as many of the newest sets as fit.
func (t Trend) Terminal(w io.Writer, color bool, width int) error {
	out := terminal{Writer: bufio.NewWriter(w), color: color, width: max(width, minWidth)}
	for i, n := range t.Names {
		out.line(fmt.Sprintf("%3d  %s", i+1, n))
	}
	out.line("")
	cells := len(t.Cells) + t.Steady
	if cells > 0 || len(t.figures) == 0 {
		out.text("", fmt.Sprintf("%s changed; of %s no change is shown.", english.Count(len(t.Cells), "cell"), english.Count(t.Steady, "other")))
		out.trend(t.Cells)
	}
	if cells > 0 && len(t.figures) > 0 {
		out.line("")
	}
	if len(t.figures) > 0 {
		out.text("", t.costSummary())
		out.trend(t.Costs)
	}
	return out.Flush()
}

// costSummary counts the figures by what became of them.
func (t Trend) costSummary() string {
	number, why := map[gate.Trend]int{}, set{}
	for _, f := range t.figures {
		number[f.Trend]++
		if f.Trend == gate.Unsure {
			why.add(f.Why)
		}
	}
	s := fmt.Sprintf("%s changed from the first benchmark to the last; of %s no change is shown",
		english.Count(number[gate.Worse]+number[gate.Better]+number[gate.Other], "figure"), english.Count(number[gate.Same]+number[gate.Unclear], "other"))
	for _, more := range []struct {
		trend       gate.Trend
		what, after string
	}{{gate.Gone, "not measured in the last: ", ""}, {gate.New, "not measured in the first: ", ""}, {gate.Unsure, "of ", " nothing can be told: " + strings.Join(why, "; ")}} {
		if n := number[more.trend]; n > 0 {
			s += fmt.Sprint("; ", more.what, n, more.after)
		}
	}
	return s + "."
}

func (t terminal) trend(rows []trendRow) {
	if len(rows) == 0 {
		return
	}
	name, says, widths := 0, 0, make([]int, len(rows[0].Values))
	for _, r := range rows {
		name, says = max(name, utf8.RuneCountInString(r.Name)), max(says, utf8.RuneCountInString(r.Says))
		for i, v := range r.Values {
			widths[i] = max(widths[i], utf8.RuneCountInString(v), 3)
		}
	}
	from, used := len(widths), 2+name+2+says
	for from > 0 && (used+widths[from-1]+2 <= t.width || from == len(widths)) {
		from--
		used += widths[from] + 2
	}
	line := func(first string, values []string, last string) {
		s := "  " + pad(first, name)
		for i := from; i < len(values); i++ {
			s += "  " + pad(values[i], widths[i])
		}
		t.line(s + "  " + last)
	}
	heads := make([]string, len(widths))
	for i := range heads {
		heads[i] = fmt.Sprint(i + 1)
	}
	line("", heads, "")
	for _, r := range rows {
		line(r.Name, r.Values, r.Says)
		if r.Told != "" {
			t.text("    ", r.Told)
		}
	}
}
