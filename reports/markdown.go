package reports

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// markdownReasons bounds the list of reasons, so that the page of a CI stays a
// page.
const markdownReasons = 25

// squares carry the colours where Markdown has none.
var squares = map[lb.Outcome]string{
	lb.Safe:         "🟩",
	lb.Check:        "🟨",
	lb.Fence:        "🟧",
	lb.Stuck:        "🟪",
	lb.Broken:       "🟥",
	lb.Inconclusive: "⬜",
	lb.NotAvailable: "➖",
}

// Markdown writes of the directory of a matrix, a run or a benchmark, or of several together,
// a summary short enough for the page of a CI: broken promises first, the matrix, and the
// reasons folded away. Several benchmarks stand side by side, and each of them below.
func Markdown(w io.Writer, dirs ...string) error {
	benches, dirs, benchErr := benchesIn(dirs)
	if len(dirs) > 0 || benchErr != nil {
		p, err := load(dirs)
		if err != nil {
			return worthTelling(err, benchErr)
		}
		if p.orders {
			markdownOrders(w, p.explored)
			return nil
		}
		if err := markdown(w, p.cells, p.planned, func(b io.Writer, g grid) {
			for _, n := range p.notes {
				fmt.Fprintf(b, "\n%s\n", escapeMD(n))
			}
			markdownPromises(b, g)
			markdownTake(b, g, func(c *checker.Cell) *history.Plan {
				r, err := p.run(*c)
				if err != nil || r == nil {
					return nil
				}
				return &r.Plan
			})
			markdownOrders(b, p.explored)
		}); err != nil {
			return err
		}
	}
	if benchErr != nil && !errors.Is(benchErr, fs.ErrNotExist) {
		return benchErr
	}
	return benchMarkdown(w, benches)
}

// markdown writes the summary, with what leads it below the counts.
func markdown(w io.Writer, cells []checker.Cell, planned int, lead func(io.Writer, grid)) error {
	b := bufio.NewWriter(w)
	g := newGrid(cells, planned)
	fmt.Fprintf(b, "## Which lock can I trust, under what?\n\n%s\n", escapeMD(g.summary()))
	if s := g.unfinished(); s != "" {
		fmt.Fprintf(b, "\n%s\n", s)
	}
	lead(b, g)
	markdownTable(b, g)
	if open := g.open(); len(open) > 0 {
		fmt.Fprintf(b, "\nWhat SAFE leaves open: %s.\n", strings.Join(open, "; "))
	}
	markdownReasonsOf(b, "What went wrong, and why", g.inOrder(isHurt), func(c *checker.Cell) string {
		return fmt.Sprintf("%s, %s", c.Outcome, ofRuns(c))
	})
	markdownReasonsOf(b, "What proves nothing, and why", g.inOrder(isUnclear), word)
	markdownAsides(b, g)
	return b.Flush()
}

func markdownPromises(b io.Writer, g grid) {
	list := g.inOrder(isBroken)
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### ❌ Broken promises: %d\n\n", len(list))
	for _, c := range list {
		fmt.Fprintf(b, "- **%s** under **%s** is **%s**", escapeMD(c.Algorithm), escapeMD(c.Fault), c.Outcome)
		if c.Expected != "" {
			fmt.Fprintf(b, "; declared: %s", escapeMD(c.Expected))
		}
		fmt.Fprintln(b)
	}
}

// markdownTake says which lock to take, as far as the cells tell.
func markdownTake(b io.Writer, g grid, plan func(*checker.Cell) *history.Plan) {
	locks, best, unknown := g.advised(plan)
	if len(locks) == 0 {
		return
	}
	fmt.Fprint(b, "\n### Which lock to take, by what was tried\n\n")
	for i, l := range locks {
		if i == markdownReasons {
			fmt.Fprintf(b, "- … and %d more in the report\n", len(locks)-i)
			break
		}
		fmt.Fprintf(b, "- **%s**: %s.\n", escapeMD(l.Name), escapeMD(l.Says))
	}
	for _, a := range best {
		if s := a.sentence(); s != "" {
			fmt.Fprintf(b, "\n%s\n", escapeMD(s))
		}
	}
	if len(unknown) > 0 {
		fmt.Fprintf(b, "\n%s\n", escapeMD(undying(unknown)))
	}
}

func markdownTable(b io.Writer, g grid) {
	markdownCells(b, g)
	markdownKeys(b)
}

func markdownCells(b io.Writer, g grid) {
	fmt.Fprint(b, "\n| |")
	for _, c := range g.Cols {
		fmt.Fprintf(b, " %s |", escapeMD(c))
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("---|", len(g.Cols)))
	for _, r := range g.Rows {
		fmt.Fprintf(b, "| %s |", escapeMD(r))
		for _, col := range g.Cols {
			fmt.Fprintf(b, " %s |", markdownCell(g.At(r, col)))
		}
		fmt.Fprintln(b)
	}
}

// markdownKeys explain the cells.
func markdownKeys(b io.Writer) {
	var keys []string
	for _, k := range outcomes {
		keys = append(keys, fmt.Sprintf("%s %s: %s", squares[k.Outcome], k.Short, k.Meaning))
	}
	fmt.Fprintf(b, "\n<sub>%s</sub>\n", strings.Join(keys, "<br>"))
}

func markdownCell(c *checker.Cell) string {
	switch {
	case c == nil:
		return ""
	case isBroken(c):
		return strings.TrimRight(fmt.Sprintf("%s **%s** ❌ %s", squares[c.Outcome], short(c), c.Mechanism), " ")
	case notRun(c):
		return short(c)
	}
	return strings.TrimRight(squares[c.Outcome]+" "+short(c)+" "+cmp.Or(c.Mechanism, outShort(c)), " ")
}

func markdownReasonsOf(b io.Writer, title string, list []*checker.Cell, says func(*checker.Cell) string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n<details><summary>%s (%s)</summary>\n\n", title, english.Count(len(list), "cell"))
	for i, c := range list {
		if i == markdownReasons {
			fmt.Fprintf(b, "- … and %d more in the report\n", len(list)-i)
			break
		}
		fmt.Fprintf(b, "- **%s** under **%s**: %s. %s\n", escapeMD(c.Algorithm), escapeMD(c.Fault), says(c), escapeMD(c.Reason))
	}
	fmt.Fprintln(b, "\n</details>")
}

func markdownAsides(b io.Writer, g grid) {
	list := g.inOrder(hasAsides)
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n<details><summary>Besides (%s)</summary>\n\n", english.Count(len(list), "cell"))
	for _, c := range list {
		fmt.Fprintf(b, "- **%s** under **%s**: %s\n", escapeMD(c.Algorithm), escapeMD(c.Fault), escapeMD(strings.Join(asides(c), "; ")))
	}
	fmt.Fprintln(b, "\n</details>")
}

var mdEscaper = strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "_", "\\_", "`", "\\`", "\n", " ")

// escapeMD keeps text from being read as markup.
func escapeMD(s string) string { return mdEscaper.Replace(s) }
