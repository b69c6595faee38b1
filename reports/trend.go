package reports

import (
	"bufio"
	"fmt"
	"io"
	"slices"
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
	// Cells are those that were not the same in all sets that have them, and Steady counts the others.
	Cells  []trendRow
	Steady int
	// Costs are the figures that differ between the first and the last benchmark, and Unchanged counts
	// those of which no difference is shown.
	Costs     []trendRow
	Unchanged int
}

// trendRow is a cell or a figure in each set, absent where the set does not have it.
type trendRow struct {
	Name   string
	Values []string
	Says   string // of the last beside the first
}

// NewTrend compares sets of runs under their names. A figure differs if [gate.Measured] says so of the
// first benchmark and the last, with the least difference that counts.
func NewTrend(names []string, sets []rundir.Saved, least float64) Trend {
	t := Trend{Names: names}
	t.addCells(sets)
	t.addCosts(sets, least)
	return t
}

func (t *Trend) addCells(sets []rundir.Saved) {
	type key struct{ row, fault string }
	var keys []key
	seen := map[key]bool{}
	for _, s := range sets {
		for _, c := range s.Cells {
			if k := (key{c.Row(), c.Fault}); !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	for _, k := range keys {
		row, first, changed := trendRow{Name: k.row + " × " + k.fault}, "", false
		for _, s := range sets {
			i := slices.IndexFunc(s.Cells, func(c checker.Cell) bool { return k == key{c.Row(), c.Fault} })
			if i < 0 {
				row.Values = append(row.Values, absent)
				continue
			}
			says := word(&s.Cells[i])
			if how := howShort(&s.Cells[i]); how != "" {
				says += " " + how
			}
			if first == "" {
				first = says
			}
			changed = changed || says != first
			row.Values = append(row.Values, says)
		}
		if changed {
			t.Cells = append(t.Cells, row)
		} else {
			t.Steady++
		}
	}
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
		switch {
		case !slices.Contains(deciding, f.Measure):
			continue
		case !slices.Contains([]gate.Trend{gate.Worse, gate.Better, gate.Other}, f.Trend):
			t.Unchanged++
			continue
		}
		row := trendRow{Name: f.Algorithm + ", " + figureName(f), Says: string(f.Trend) + " " + ratio(f.Counts().Difference)}
		if f.Relative != nil {
			row.Says += ", held against the " + string(f.Yardstick)
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
	out.text("", fmt.Sprintf("%s changed; of %s nothing changed where they were run.", english.Count(len(t.Cells), "cell"), english.Count(t.Steady, "cell")))
	out.trend(t.Cells)
	if len(t.Costs)+t.Unchanged > 0 {
		out.line("")
		out.text("", fmt.Sprintf("%s changed from the first benchmark to the last; of %s no change is shown.", english.Count(len(t.Costs), "figure"), english.Count(t.Unchanged, "other")))
		out.trend(t.Costs)
	}
	return out.Flush()
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
	}
}
