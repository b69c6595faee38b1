package reports

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lockbench/lockbench/internal/cost"
)

// benchWidth is the width in columns that a benchmark's tables fit into.
const benchWidth = 100

// Bench writes a benchmark for a terminal of 100 columns: what can be said against its
// figures, what a lock costs alone, what it costs when many want it, what it needs.
func Bench(w io.Writer, b *cost.Bench) error {
	t := terminal{Writer: bufio.NewWriter(w), width: benchWidth}
	for _, s := range append(benchRemarks(b), diskRemark(b)) {
		t.text("", s)
	}
	for _, table := range benchTables(b) {
		t.benchTable(b, table)
	}
	if list := benchFailures(b); len(list) > 0 {
		t.line("")
		t.line("What is missing, and why")
		for _, f := range list {
			t.text("  ", clip(f.Lock+", "+f.Where+": "+f.Why, 300))
		}
	}
	return t.Flush()
}

func (t terminal) benchTable(b *cost.Bench, table benchTable) {
	name := t.width
	for _, c := range table.Columns {
		name -= c.width
	}
	t.line("")
	t.line(table.Title)
	for _, s := range table.Told {
		t.text("", s)
	}
	head := pad("", name)
	for _, c := range table.Columns {
		if c.width > 0 {
			head += padLeft(c.Head, c.width)
		}
	}
	t.line(head)
	for _, lock := range b.Plan.Algorithms {
		row := pad(clip(lock, name), name)
		for _, c := range table.Columns {
			if c.width > 0 {
				row += padLeft(c.show(lock), c.width)
			}
		}
		t.line(row)
	}
}

// padLeft puts blanks before s.
func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}
