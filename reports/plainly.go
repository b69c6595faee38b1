package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// plainly is what the lock was at its worst, in a sentence without its end, for whoever knows
// no word of this bench.
func (r rank) plainly() string {
	s := r.atWorst()
	if len(r.hints) > 0 {
		s += "; harm was seen, too, in what proves nothing: under " + strings.Join(r.hints, ", ")
	}
	return s
}

func (r rank) atWorst() string {
	under := " under " + r.Under()
	switch calm, faults := r.under(); {
	case calm && faults == "":
		under = " without any fault"
	case calm:
		under = " without any fault and under " + faults
	}
	all := func(mechanism string) bool {
		return !slices.ContainsFunc(r.cells, func(c *checker.Cell) bool { return c.Outcome == r.worst && c.Mechanism != mechanism })
	}
	switch {
	case r.worst == lb.Safe:
		return "nobody was hurt"
	case r.worst == lb.Check:
		return "safe if each write looks at the lease first; else somebody was hurt" + under
	case r.worst == lb.Fence && len(r.itself()) == 0:
		return "safe if your store checks fencing tokens; else somebody was hurt" + under
	case r.worst == lb.Fence:
		return "safe if your store checks fencing tokens: " + r.broke("somebody was hurt") + under
	case r.worst == lb.Stuck && all(lb.Ghost):
		return "it stayed taken though nobody used it" + under
	case r.worst == lb.Stuck && all(lb.Deadlock):
		return "its holders waited for each other, or for themselves," + under
	case r.worst == lb.Stuck:
		return "whoever waited did not get it any more" + under
	}
	return r.broke("somebody was hurt in spite of every care that it can offer") + under
}

// byItself are the mechanisms in which the lock itself breaks, and whether that hurts anybody is chance.
var byItself = map[string]string{
	lb.DoubleGrant:   "more held it at once than may",
	lb.VanishedGrant: "the lock service dropped a grant while it was held",
}

// itself says how the lock itself broke at its worst.
func (r rank) itself() (list []string) {
	for _, m := range r.Mechanisms {
		if says := byItself[m]; says != "" {
			list = append(list, says)
		}
	}
	return list
}

// broke is that, and the harm of the cells in which something else went wrong.
func (r rank) broke(harm string) string {
	ways := r.itself()
	if slices.ContainsFunc(r.cells, func(c *checker.Cell) bool { return c.Outcome == r.worst && byItself[c.Mechanism] == "" }) {
		ways = append(ways, harm+",")
	}
	return strings.Join(ways, ", or ")
}

// except names the cells that went wrong all the same: "restart-empty (double grant)".
func except(cells []*checker.Cell) string {
	var parts []string
	for _, c := range cells {
		parts = append(parts, fmt.Sprintf("%s (%s)", c.Fault, cmp.Or(c.Mechanism, strings.ToLower(string(c.Outcome)))))
	}
	if n := len(parts); n > 5 {
		parts = append(parts[:4], fmt.Sprintf("%d more", n-4))
	}
	return strings.Join(parts, ", ")
}
