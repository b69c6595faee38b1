package reports

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

const (
	minWidth     = 60
	cellWidth    = 8 // the longest short outcome or mechanism, with the mark of a broken promise
	headWidth    = 8 // column heads break at hyphens to get below this
	listedCells  = 40
	brokenSymbol = "!"
)

// sgr are the terminal colours of the cells. The text says the same.
var sgr = map[lb.Outcome]string{
	lb.Safe:         "30;42",
	lb.Check:        "30;43",
	lb.Fence:        "30;48;5;208",
	lb.Stuck:        "97;45",
	lb.Broken:       "1;97;41",
	lb.Inconclusive: "30;47",
	lb.NotAvailable: "2",
}

// Matrix writes the matrix, with so many planned runs a cell (0: nobody said), for a
// terminal of the given width in columns (at least 60): rows are algorithms, columns
// faults. Below it stand the legend, the cells in which somebody was hurt and those
// that prove nothing, each with its reason, and last, so that they can't be
// overlooked, the broken promises. Where the columns do not fit side by side the
// matrix continues in blocks.
func Matrix(w io.Writer, cells []checker.Cell, planned int, color bool, width int) error {
	t := terminal{Writer: bufio.NewWriter(w), color: color, width: max(width, minWidth)}
	g := newGrid(cells, planned)
	t.text("", g.summary())
	t.text("", g.unfinished())
	t.text("", g.clocks())
	t.line("")
	for _, cols := range t.blocks(g) {
		t.block(g, cols)
	}
	t.legend(g)
	t.open(g)
	t.reasons("What went wrong, and why", g.inOrder(isHurt), func(c *checker.Cell) string {
		return t.paint(sgr[c.Outcome], string(c.Outcome)) + ", " + ofRuns(c)
	})
	t.reasons("What proves nothing, and why", g.inOrder(isUnclear), func(c *checker.Cell) string { return word(c) })
	t.asides(g)
	t.advice(g)
	t.promises(g)
	return t.Flush()
}

// terminal keeps the first write error for Flush, as bufio does.
type terminal struct {
	*bufio.Writer
	color bool
	width int
}

func (t terminal) line(s string) { fmt.Fprintln(t, strings.TrimRight(s, " ")) }

// text writes s wrapped under a hanging indent.
func (t terminal) text(indent, s string) {
	for _, l := range wrap(s, t.width-utf8.RuneCountInString(indent), 0) {
		t.line(indent + l)
	}
}

func (t terminal) paint(code, s string) string {
	if !t.color || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// blocks divides the columns into as few blocks as the width allows; the faults of
// one group stay together where they fit.
func (t terminal) blocks(g grid) [][]string {
	var out [][]string
	used := t.width + 1
	start := func() { out, used = append(out, nil), rowWidth(g) }
	for _, group := range g.ColGroups {
		whole := 0
		for _, c := range group.Names {
			whole += colWidth(c) + 1
		}
		if used+whole > t.width && rowWidth(g)+whole <= t.width {
			start()
		}
		for _, c := range group.Names {
			need := colWidth(c) + 1
			if used+need > t.width {
				start()
			}
			out[len(out)-1] = append(out[len(out)-1], c)
			used += need
		}
	}
	return out
}

func (t terminal) block(g grid, cols []string) {
	if g.Large() {
		t.groupHeads(g, cols)
	}
	t.heads(g, cols)
	for i, group := range g.RowGroups {
		if i > 0 && g.Large() {
			t.line("")
		}
		for _, r := range group.Names {
			s := pad(r, rowWidth(g))
			how, hurt := pad("", rowWidth(g)), false
			for _, c := range cols {
				cell := g.At(r, c)
				s += " " + t.cell(cell, colWidth(c))
				how += " " + pad(below(cell), colWidth(c))
				hurt = hurt || below(cell) != ""
			}
			t.line(s)
			if hurt {
				t.line(how)
			}
		}
	}
	t.line("")
}

// groupHeads names the faults' groups, each above its first column.
func (t terminal) groupHeads(g grid, cols []string) {
	s, last := pad("", rowWidth(g)), ""
	for _, c := range cols {
		text := titleOf(g.ColGroups, c)
		if text == last {
			text = ""
		} else {
			last = text
		}
		s += " " + pad(strings.ToUpper(text), colWidth(c))
	}
	t.line(t.paint("1", strings.TrimRight(s, " ")))
}

func (t terminal) heads(g grid, cols []string) {
	heads := make([][]string, len(cols))
	height := 0
	for i, c := range cols {
		heads[i] = headLines(c)
		height = max(height, len(heads[i]))
	}
	for l := range height {
		s := pad("", rowWidth(g))
		for i, c := range cols {
			text := ""
			if k := l - (height - len(heads[i])); k >= 0 {
				text = heads[i][k]
			}
			s += " " + pad(text, colWidth(c))
		}
		t.line(s)
	}
}

func (t terminal) cell(c *checker.Cell, width int) string {
	if c == nil {
		return pad("", width)
	}
	s := short(c)
	if isBroken(c) {
		s += brokenSymbol
	}
	return t.paint(sgr[c.Outcome], pad(s, width))
}

func (t terminal) legend(g grid) {
	counts := g.counts()
	for _, k := range outcomes {
		if slices.ContainsFunc(counts, func(c count) bool { return c.Outcome == k.Outcome }) {
			t.explain(sgr[k.Outcome], k.Short, k.Meaning)
		}
	}
	for _, m := range g.Mechanisms() {
		word, means := m.Short, m.Meaning
		if word != m.Name {
			means = m.Name + ": " + means
		}
		t.explain("", word, means)
	}
	if len(g.inOrder(isBroken)) > 0 {
		t.line(pad(brokenSymbol, cellWidth) + "  disagrees with what the algorithm declares (see the end)")
	}
}

// explain says what a word in a cell means, and lets it stand alone in its column.
func (t terminal) explain(code, word, means string) {
	for i, l := range wrap(means, t.width-cellWidth-2, 0) {
		head := pad("", cellWidth)
		if i == 0 {
			head = t.paint(code, pad(word, cellWidth))
		}
		t.line(head + "  " + l)
	}
}

// open says how much is still open where nothing broke.
func (t terminal) open(g grid) {
	list := g.open()
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line(t.paint("1", "What SAFE leaves open"))
	for _, s := range list {
		t.text("  ", s)
	}
}

// reasons lists cells, each with what is to be said of its outcome, and its reason.
func (t terminal) reasons(title string, list []*checker.Cell, says func(*checker.Cell) string) {
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line(t.paint("1", title))
	for i, c := range list {
		if i == listedCells {
			t.line(fmt.Sprintf("  … and %d more in the report", len(list)-i))
			break
		}
		t.line(fmt.Sprintf("  %s under %s: %s", c.Algorithm, c.Fault, says(c)))
		t.text("    ", c.Reason)
	}
}

func (t terminal) asides(g grid) {
	list := g.inOrder(hasAsides)
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line(t.paint("1", "Besides"))
	for _, c := range list {
		for _, s := range asides(c) {
			t.text("  ", fmt.Sprintf("%s under %s: %s", c.Algorithm, c.Fault, s))
		}
	}
}

// advice says which lock to take, as far as the cells tell.
func (t terminal) advice(g grid) {
	locks, best, unknown := g.advised(planIn)
	if len(locks) == 0 {
		return
	}
	t.line("")
	t.line(t.paint("1", "Which lock to take, by what was tried"))
	for i, l := range locks {
		if i == listedCells {
			t.line(fmt.Sprintf("  … and %d more in the report", len(locks)-i))
			break
		}
		t.text("  ", l.Name+": "+l.Says+".")
	}
	for _, a := range best {
		if s := a.sentence(); s != "" {
			t.text("  ", s)
		}
	}
	if len(unknown) > 0 {
		t.text("  ", undying(unknown))
	}
}

func (t terminal) promises(g grid) {
	list := g.inOrder(isBroken)
	if len(list) == 0 {
		return
	}
	t.line("")
	t.line(t.paint("1;97;41", fmt.Sprintf("BROKEN PROMISES: %d", len(list))))
	for _, c := range list {
		t.line(t.paint("1", fmt.Sprintf("  %s under %s is %s", c.Algorithm, c.Fault, c.Outcome)))
		if c.Expected != "" {
			t.text("    ", "declared: "+c.Expected)
		}
	}
}

func rowWidth(g grid) int {
	w := 0
	for _, r := range g.Rows {
		w = max(w, utf8.RuneCountInString(r))
	}
	return w + 1
}

func colWidth(name string) int {
	w := cellWidth
	for _, l := range headLines(name) {
		w = max(w, utf8.RuneCountInString(l))
	}
	return w
}

// headLines breaks a fault's name where a word of it ends.
func headLines(name string) []string {
	var lines []string
	for name != "" {
		part := name
		if i := strings.IndexAny(name, "-:@/+"); i >= 0 {
			part = name[:i+1]
		}
		name = name[len(part):]
		if n := len(lines); n > 0 && len(lines[n-1])+len(part) <= headWidth {
			lines[n-1] += part
			continue
		}
		lines = append(lines, part)
	}
	return lines
}
