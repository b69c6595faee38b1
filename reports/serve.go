package reports

import (
	"bytes"
	"fmt"
	"io"
	"os"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// Page writes to w the page that [HTML] writes into dir, with the same links, and writes
// nothing into dir. A brief one, of what still goes on, has neither pictures nor plots.
func Page(w io.Writer, dir string, brief bool) error {
	plots, err := os.MkdirTemp("", "lockbench-plots-") // the page has them all, too
	if err != nil {
		return fmt.Errorf("plots: %w", err)
	}
	defer os.RemoveAll(plots)
	c, err := compose([]string{dir}, "", plots, brief)
	if err != nil {
		return err
	}
	if v, ok := c.data.(*view); ok {
		v.Brief = false // nobody has interrupted it
	}
	return pages().ExecuteTemplate(w, c.template, c.data)
}

// Head begins a page that looks like those of this package: all up to what its body shows.
func Head(w io.Writer, title string) error { return pages().ExecuteTemplate(w, "head", title) }

// Inline are the contents of the elements <style> and <script> on the pages, which a
// Content-Security-Policy may want to know.
func Inline() (style, script string) { return joined("style"), joined("script") }

// Current reports whether this version of the package wrote the page, and not in brief.
func Current(page []byte) bool {
	return bytes.Contains(page, []byte("<style>"+joined("style")+"</style>")) && !bytes.Contains(page, []byte(briefly))
}

// briefly is what only a page says that [Brief] wrote.
const briefly = "This page was made when the runs were interrupted"

// Chip is a short word in a colour of the pages.
type Chip struct{ Text, Class string }

// Chips say what came of cells: broken promises first, then the outcomes from worst to
// best, then what there is no outcome of. One cell alone is not counted.
func Chips(cells []checker.Cell) (chips []Chip) {
	g := newGrid(cells, 0)
	add := func(n int, text, class string) {
		if n > 0 && len(cells) > 1 {
			text = fmt.Sprintf("%d %s", n, text)
		}
		if n > 0 {
			chips = append(chips, Chip{text, class})
		}
	}
	if n := len(g.inOrder(isBroken)); n == 1 {
		add(n, "broken promise", "promise")
	} else {
		add(n, "broken promises", "promise")
	}
	counts := map[lb.Outcome]int{}
	for _, c := range g.counts() {
		counts[c.Outcome] = c.N
	}
	for _, o := range orderOutcomes {
		add(counts[o], string(o), outcomeClass(o))
	}
	add(len(g.inOrder(hasFailed)), failedShort, "inconclusive")
	add(len(g.inOrder(notRun)), notRunShort, "notrun plainchip")
	return chips
}
