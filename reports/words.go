package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// span writes a length of time given in milliseconds with three digits and the
// unit that suits it; negative means that there was none.
func span(ms float64) string {
	switch {
	case ms < 0:
		return "none"
	case ms >= 1000:
		return digits(ms/1000) + " s"
	case ms >= 1 || ms == 0:
		return digits(ms) + " ms"
	}
	return digits(ms*1000) + " µs"
}

func digits(v float64) string {
	switch {
	case v >= 100 || v == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v < .00005: // the ratio to nothing
		return "0"
	case v < .01:
		return strconv.FormatFloat(v, 'f', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// ofRuns is how many runs broke, and how sure that is.
func ofRuns(c *checker.Cell) string {
	if c.Share == nil { // an older lockbench made the cell
		return checker.NewShare(c.Violations, c.Runs).String()
	}
	return c.Share.String()
}

// wrap breaks s into lines of at most width columns; a longer word stays whole.
// Beyond limit lines (0: none) the rest is cut off with an ellipsis.
func wrap(s string, width, limit int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(s) {
		switch {
		case line == "":
			line = w
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) <= width:
			line += " " + w
		default:
			lines, line = append(lines, line), w
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	if limit > 0 && len(lines) > limit {
		lines = lines[:limit]
		lines[limit-1] = clip(lines[limit-1]+" …", width)
	}
	return lines
}

// clip shortens s to n columns.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimRight(string(r[:max(0, n-1)]), " ") + "…"
}

// pad fills s to n columns.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

// mechanism is a way in which a lock's user is hurt, explained. Short is a word that a
// cell of a matrix has room for.
type mechanism struct{ Name, Short, Meaning string }

// mechanisms explains those that reasons and findings name.
var mechanisms = []mechanism{
	{lb.DoubleGrant, "double", "by the answers of the lock more clients held it at once than may: the lock itself broke."},
	{lb.VanishedGrant, "vanished", "the lock service dropped a grant before its lease ended, though nobody else was seen to get it: the lock itself broke, and with luck nobody was hurt."},
	{lb.Overstay, "overstay", "a holder went on after its lease had ended: every lease allows that, and fencing is the remedy."},
	{lb.EarlyRelease, "early", "a holder went on after it had given the lock back itself: a mistake of the lock’s user, not of the lock service."},
	{lb.Ghost, "ghost", "a lock that nobody uses stays taken: nobody is hurt, and nobody makes progress."},
	{lb.Deadlock, "deadlock", "holders wait for each other’s locks in a circle, or one for what it holds itself, and none of them makes progress."},
}

// howShort is the mechanism below a cell, in a word: a double grant is not an overstay,
// though both may read BROKEN.
func howShort(c *checker.Cell) string {
	if c == nil {
		return ""
	}
	for _, m := range mechanisms {
		if m.Name == c.Mechanism {
			return m.Short
		}
	}
	return ""
}

// longOutage is from how many milliseconds on a cell says that nobody got the lock, where nobody was
// hurt: SAFE is no answer to whoever waits.
const longOutage = 5000

// outShort is such an outage in a word.
func outShort(c *checker.Cell) string {
	if c == nil || c.Outcome != lb.Safe || c.Outage == "" || c.OutageMS < longOutage {
		return ""
	}
	return fmt.Sprintf("out %.0fs", c.OutageMS/1000)
}

// below is what stands below a cell's outcome.
func below(c *checker.Cell) string { return cmp.Or(howShort(c), outShort(c)) }

// Mechanisms are those that occur in the cells, and behind them the outages where nobody was hurt.
func (g grid) Mechanisms() []mechanism {
	list := slices.DeleteFunc(slices.Clone(mechanisms), func(m mechanism) bool {
		return len(g.inOrder(func(c *checker.Cell) bool { return c.Mechanism == m.Name })) == 0
	})
	if len(g.inOrder(func(c *checker.Cell) bool { return outShort(c) != "" })) > 0 {
		list = append(list, mechanism{"outage", "out", "nobody was hurt, and for so long nobody got the lock who asked for it, though nobody relied on it (told from 5 s on)."})
	}
	return list
}
