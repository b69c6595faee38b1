package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/rundir"
)

// orderOutcomes are those that an order may have, the worst first.
var orderOutcomes = append(lb.WorstFirst(), lb.Inconclusive)

// Explored writes for a terminal what an exploration has found: what came of each class of
// orders, and of what broke the lock the shortest order as a story. again is the command that
// performs the order in a directory.
func Explored(w io.Writer, e *rundir.Explored, width int, again func(dir string) string) error {
	t := terminal{Writer: bufio.NewWriter(w), width: max(width, minWidth)}
	t.text("", fmt.Sprintf("%s on %s: %s", e.Plan.Algorithm, e.Plan.Topology, e.Within))
	t.classes(e)
	for _, s := range unwalked(e) {
		t.text("  ", s)
	}
	set := ""
	if e.Digest != "" {
		set = ", digest " + e.Digest
	}
	t.line(fmt.Sprintf("  %s, in %s of ending%s", span(1000*e.Seconds), countLarge(e.Ways, "way"), set))
	if met := met(e); met > 0 {
		t.text("  ", fmt.Sprintf("%s beside these came to a moment that was walked on from before, with the same to come and the same to judge", countLarge(met, "order")))
	}
	if astray, all := strays(e); astray > 0 {
		t.text("  ", fmt.Sprintf("%s of %s did not go as planned, and are not counted: %s", thousands(astray), thousands(all), whyAstray(e)))
	}
	short := shortest(e)
	if short == nil {
		t.text("", exploredSays(e)+".")
		return t.Flush()
	}
	t.text("", exploredSays(e)+"; the shortest:")
	for i, s := range short.Story {
		t.hanging(fmt.Sprintf("%4d. ", i+1), s)
	}
	t.text("  ", short.Reason)
	if short.Dir != "" {
		t.line("again:  " + again(path.Join(e.Dir, short.Dir)))
	}
	return t.Flush()
}

// hanging writes s wrapped behind a head.
func (t terminal) hanging(head, s string) {
	for _, l := range wrap(s, t.width-len(head), 0) {
		t.line(head + l)
		head = strings.Repeat(" ", len(head))
	}
}

func (t terminal) classes(e *rundir.Explored) {
	name, orders, came := 0, 0, 0
	for _, c := range e.Classes {
		name, orders, came = max(name, len(c.Class.String())), max(orders, len(thousands(c.Orders))), max(came, len(cameOf(c)))
	}
	for _, c := range e.Classes {
		n := thousands(c.Orders)
		t.line(fmt.Sprintf("  %s  %s%s %s: %s  %s", pad(c.Class.String(), name), strings.Repeat(" ", orders-len(n)), n, pad(english.Noun(c.Orders, "order"), 6), pad(cameOf(c), came), c.Declared))
	}
}

// cameOf is what came of the orders of a class.
func cameOf(c *rundir.ExploredClass) string {
	var came []string
	for _, o := range orderOutcomes {
		if n := c.Outcomes[o]; n > 0 {
			came = append(came, thousands(n)+" "+string(o))
		}
	}
	return strings.Join(came, ", ")
}

// Replayed writes what came of an order that was performed again, so many times.
func Replayed(w io.Writer, times int, came map[lb.Outcome]int, reason string) error {
	b := bufio.NewWriter(w)
	for _, o := range orderOutcomes {
		if n := came[o]; n > 0 {
			fmt.Fprintf(b, "%s %d of %d\n", o, n, times)
		}
	}
	if reason != "" {
		fmt.Fprintln(b, " ", reason)
	}
	return b.Flush()
}

// exploredSays is the verdict, in one sentence without its end.
func exploredSays(e *rundir.Explored) string {
	n, broken, whole := e.Orders(), 0, !e.Interrupted && e.GivenUp == "" && e.Timeless == ""
	for _, l := range e.Levels {
		broken, whole = broken+l.Broken, whole && l.Share >= 1 && l.Astray+l.Cut == 0
	}
	of := ": every order of " + e.Within
	if !whole {
		of = ", which are not all of " + e.Within
	}
	if e.Plan.Reuse {
		of += "; by clients that lived on from order to order"
	}
	if len(e.Never) > 0 {
		of += "; " + never(e.Never)
	}
	switch {
	case len(e.Replays) > 0:
		return "one order, performed again: " + replayed(e)
	case n == 0:
		return "no order was walked, so nothing is known"
	case len(e.Doubts) > 0 && brokenAs(e) == "":
		return fmt.Sprintf("nothing is proven: %s of %s seemed to break it, and did not do so again", thousands(broken), countLarge(n, "order"))
	case brokenAs(e) != "":
		return fmt.Sprintf("%s of %s, %s", brokenBy(e), countLarge(n, "order"), declaredAll(e))
	case n == 1:
		return "the one order does not break it" + of
	}
	return fmt.Sprintf("none of these %s orders breaks it%s", thousands(n), of)
}

// never says what did not come up, although the bounds allow it: of that nothing is known.
func never(what []string) string {
	return "no " + strings.Join(what, " and no ") + " came up in any of them"
}

// brokenAs is the gravest that orders came to, each time that they were performed; "" where none broke the
// lock.
func brokenAs(e *rundir.Explored) lb.Outcome {
	for _, o := range orderOutcomes {
		if rundir.Breaks(o) && e.CameTo(o) > 0 {
			return o
		}
	}
	return ""
}

// brokenBy counts the orders that broke the lock, by what they came to, the gravest first.
func brokenBy(e *rundir.Explored) string {
	var all []string
	for _, o := range orderOutcomes {
		if n := e.CameTo(o); rundir.Breaks(o) && n > 0 {
			all = append(all, string(o)+" by "+thousands(n))
		}
	}
	return strings.Join(all, ", ")
}

// replayed is what came of an order that was performed again.
func replayed(e *rundir.Explored) string {
	var came []string
	for _, o := range orderOutcomes {
		if n := e.Replays[o]; n > 0 {
			came = append(came, string(o)+" "+english.Count(n, "time"))
		}
	}
	return strings.Join(came, ", ")
}

// declaredAll says whether the lock declares what broke it.
func declaredAll(e *rundir.Explored) string {
	if slices.ContainsFunc(e.Violations, func(v rundir.ExploredOrder) bool { return v.Undeclared }) {
		return "which it does not declare"
	}
	return "as it declares"
}

// unwalked says what share was walked of the orders of which not all were.
func unwalked(e *rundir.Explored) (all []string) {
	if e.Interrupted {
		all = append(all, "interrupted: of what was not walked nothing is known, and what broke the lock is told as it was found")
	}
	if e.GivenUp != "" {
		all = append(all, "given up, since one order after the other went otherwise than it was planned: "+e.GivenUp)
	}
	if e.Timeless != "" {
		all = append(all, "no lease could end, since "+e.Timeless)
	}
	for _, l := range e.Levels {
		if l.Cut > 0 {
			all = append(all, fmt.Sprintf("%s were cut short where a client sent too many requests for one acquisition, or renewals", thousands(l.Cut)))
		}
		if l.Share >= 1 || e.Interrupted || e.GivenUp != "" {
			continue
		}
		with := "with " + english.Count(l.Faults, "fault")
		if l.Strayed() {
			all = append(all, fmt.Sprintf("%s it was given up after %s that did not go as planned, at %s of all orders", with, countLarge(l.Astray, "order"), about(l.Share)))
			continue
		}
		s := fmt.Sprintf("%s the budget sufficed for %s of all orders", with, about(l.Share))
		if l.Sampled > 0 {
			s += fmt.Sprintf(", and for %s beyond these, drawn by the seed", thousands(l.Sampled))
		}
		s += "; a larger --budget walks more"
		if l.Drawn > 0 {
			s += fmt.Sprintf("; whatever takes two moves that come each before a certain other, the %s that were drawn have shown with %s, and what takes three with %s",
				english.Count(l.Drawn, "order"), atLeast(l.Shown[2]), atLeast(l.Shown[3]))
		}
		all = append(all, s)
	}
	for _, d := range e.Doubts {
		all = append(all, "in doubt: "+d)
	}
	return all
}

// shortest is the shortest of the orders that broke the lock as the heading says, nil if none did.
func shortest(e *rundir.Explored) *rundir.ExploredOrder {
	as := brokenAs(e)
	likeHeading := func(v rundir.ExploredOrder) int {
		if v.Outcome == as {
			return 0
		}
		return 1
	}
	if len(e.Violations) == 0 {
		return nil
	}
	v := slices.MinFunc(e.Violations, func(a, b rundir.ExploredOrder) int {
		return cmp.Or(cmp.Compare(likeHeading(a), likeHeading(b)), cmp.Compare(len(a.Story), len(b.Story)))
	})
	return &v
}

// met are the orders that ended where others went on from.
func met(e *rundir.Explored) (n int) {
	for _, l := range e.Levels {
		n += l.Met
	}
	return n
}

func strays(e *rundir.Explored) (astray, all int) {
	for _, l := range e.Levels {
		astray, all = astray+l.Astray, all+l.Orders+l.Astray
	}
	return astray, all
}

func whyAstray(e *rundir.Explored) string {
	for _, l := range e.Levels {
		if l.Why != "" {
			return l.Why
		}
	}
	return "the server answered otherwise than before"
}

// Percent is a share; what is not nothing, and not all, never reads as that.
func Percent(share float64) string {
	switch p := 100 * share; {
	case share <= 0:
		return "0%"
	case share >= 1:
		return "100%"
	case p < 0.1:
		return "less than 0.1%"
	case p < 10:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	case p > 99:
		return "99%"
	default:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	}
}

// atLeast is a probability of which only a bound is known: it is rounded down.
func atLeast(p float64) string {
	percent, digits := 100*p, 0
	if percent < 10 {
		digits = 1
	}
	unit := math.Pow10(digits)
	percent = math.Floor(percent*unit) / unit
	if percent == 0 {
		return "no probability worth telling"
	}
	return "a probability of at least " + strconv.FormatFloat(percent, 'f', digits, 64) + "%"
}

// about is a share that was estimated.
func about(share float64) string {
	p := Percent(share)
	if strings.HasPrefix(p, "less than") {
		return p
	}
	return "about " + p
}

// thousands sets the digits of n in threes.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// countLarge is [english.Count] of numbers that may have many digits.
func countLarge(n int, noun string) string { return thousands(n) + " " + english.Noun(n, noun) }
