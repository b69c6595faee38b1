package reports

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Compared are two sets of cells and two benchmarks, and what changed from one to the other.
type Compared struct {
	BaseName, HeadName string
	Base, Head         []checker.Cell
	// BaseTitle and HeadTitle name, beside, the servers that only one of them was run on.
	BaseTitle, HeadTitle string
	Changes              []gate.Change
	Performance          *gate.Performance
	// Notes are what a reader must know of what was compared.
	Notes []string
}

// Compare says what changed. The names are those of what was compared, and least is the
// least difference of a figure that counts, see [gate.Measured].
func Compare(baseName, headName string, base, head rundir.Saved, least float64) Compared {
	return Compared{BaseName: baseName, HeadName: headName, Base: base.Cells, Head: head.Cells,
		BaseTitle: titled(baseName, base.Servers(head)), HeadTitle: titled(headName, head.Servers(base)),
		Changes: gate.Compare(base.Cells, head.Cells), Performance: gate.Measured(base.Bench, head.Bench, least),
		Notes: base.Differ(head, baseName, headName)}
}

func titled(name string, servers []string) string {
	if len(servers) == 0 {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, strings.Join(servers, ", "))
}

// Summary says what became of the cells and of the costs.
func (c Compared) Summary() string {
	var parts []string
	if s := c.costSummary(); len(c.Base)+len(c.Head) > 0 || s == "" {
		parts = append(parts, c.cellSummary())
	}
	return strings.TrimSpace(strings.Join(append(parts, c.costSummary()), " "))
}

// cellSummary is the number of changes of each trend, in one sentence.
func (c Compared) cellSummary() string {
	if len(c.Changes) == 0 && !gate.Comparable(c.Base, c.Head) {
		return "Nothing to compare: of no cell both have a run that proves something."
	}
	if len(c.Changes) == 0 {
		return fmt.Sprintf("%s, and none has changed.", english.Count(len(c.Head), "cell"))
	}
	var parts []string
	for i := 0; i < len(c.Changes); {
		trend, n := c.Changes[i].Trend, 0
		for ; i < len(c.Changes) && c.Changes[i].Trend == trend; i++ {
			n++
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, trend))
	}
	return fmt.Sprintf("%s before, %s now: %s.", english.Count(len(c.Base), "cell"), english.Count(len(c.Head), "cell"), strings.Join(parts, ", "))
}

// Terminal writes the changes for a terminal of this width.
func (c Compared) Terminal(w io.Writer, color bool, width int) error {
	t := terminal{Writer: bufio.NewWriter(w), color: color, width: max(width, minWidth)}
	t.text("", c.BaseTitle+" → "+c.HeadTitle)
	t.text("", c.Summary())
	for _, ch := range c.Changes {
		t.line("")
		t.line(t.paint("1", fmt.Sprintf("%s under %s: %s", ch.Algorithm, ch.Fault, ch.Trend)))
		for _, s := range ch.What {
			t.text("  ", s)
		}
		for _, side := range []struct {
			name string
			cell *checker.Cell
		}{{"base", ch.Base}, {"head", ch.Head}} {
			if side.cell != nil && side.cell.Reason != "" {
				t.text("    ", side.name+": "+side.cell.Reason)
			}
		}
	}
	t.costs(c)
	return t.Flush()
}

// Markdown writes the changes for the page of a CI, side by side.
func (c Compared) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "## %s → %s\n\n%s\n", escapeMD(c.BaseTitle), escapeMD(c.HeadTitle), escapeMD(c.Summary()))
	for _, n := range c.Notes {
		fmt.Fprintf(b, "\n%s\n", escapeMD(n))
	}
	if len(c.Changes) > 0 {
		fmt.Fprint(b, "\n| | lock | fault | base | head | |\n|---|---|---|---|---|---|\n")
	}
	for _, ch := range c.Changes {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", ch.Trend, escapeMD(ch.Algorithm), escapeMD(ch.Fault),
			markdownCell(ch.Base), markdownCell(ch.Head), escapeMD(strings.Join(ch.What, "; ")))
	}
	c.markdownCosts(b)
	return b.Flush()
}

// JSON writes one object; docs/compare.schema.json is its schema.
func (c Compared) JSON(w io.Writer) error {
	says := struct {
		Schema      int               `json:"schema"`
		Base        string            `json:"base"`
		Head        string            `json:"head"`
		Notes       []string          `json:"notes"`
		Changes     []gate.Change     `json:"changes"`
		Performance *gate.Performance `json:"performance,omitempty"`
	}{history.Schema, c.BaseName, c.HeadName, append([]string{}, c.Notes...), c.Changes, nil}
	if c.Performance.Compared() {
		says.Performance = c.Performance
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(says)
}

// HTML writes the page of the difference, one file that opens offline.
func (c Compared) HTML(path string) error {
	_, err := writePage(path, "compare-page", newCompareView(c))
	return err
}

// compareView is the page of a difference: the changes, both matrices in one grid, and the
// costs, drawn.
type compareView struct {
	Compared
	Forests []forest
	Costs   []gate.Figure // that have changed
	Grid    grid          // of both
	base    grid
	head    grid
}

func newCompareView(c Compared) compareView {
	return compareView{Compared: c, Forests: c.forests(), Costs: c.changedCosts(),
		Grid: newGrid(append(append([]checker.Cell{}, c.Head...), c.Base...), 0), base: newGrid(c.Base, 0), head: newGrid(c.Head, 0)}
}

// pair is a place of both matrices; a side is nil where it is in one only.
type pair struct {
	Base, Head *checker.Cell
	Trend      gate.Trend
}

// At is a place, nil where neither matrix has it.
func (v compareView) At(row, col string) *pair {
	p := &pair{Base: v.base.At(row, col), Head: v.head.At(row, col)}
	if p.Base == nil && p.Head == nil {
		return nil
	}
	for _, ch := range v.Changes {
		if ch.Algorithm == row && ch.Fault == col {
			p.Trend = ch.Trend
		}
	}
	return p
}

// Bad reports whether somebody should look at it.
func (p pair) Bad() bool {
	return p.Trend == gate.Worse || p.Trend == gate.Lost || p.Trend == gate.Gone
}

// Title says in one line what stands there.
func (p pair) Title() string {
	var parts []string
	for _, c := range []*checker.Cell{p.Base, p.Head} {
		if c == nil {
			parts = append(parts, "not there")
		} else {
			parts = append(parts, title(c))
		}
	}
	return "Before: " + parts[0] + " Now: " + parts[1]
}
