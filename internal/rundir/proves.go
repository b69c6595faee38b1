package rundir

import (
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
)

// Proves says why the exploration proves nothing of what it does not show, "" where it does.
func (f *Found) Proves() string {
	switch spoilt := f.Spoilt(); {
	case f.Orders() == 0:
		return "no order was walked"
	case f.Interrupted:
		return "it was interrupted"
	case spoilt != "":
		return spoilt
	}
	for _, l := range f.Levels {
		switch {
		case l.Share < 1 && l.Strayed(): // again, whatever the budget
			return fmt.Sprintf("of the orders with so many faults, %d, not all were walked: given up after %s that did not go as planned", l.Faults, english.Count(l.Astray, "order"))
		case l.Share < 1:
			return fmt.Sprintf("of the orders with so many faults, %d, not all were walked: a larger budget, or fewer moves", l.Faults)
		case l.Cut > 0:
			return fmt.Sprintf("cut short where a client sent too many requests: %s", english.Count(l.Cut, "order"))
		}
	}
	return ""
}

// Spoilt says why so much did not go as planned that the rest says nothing, "" where it does.
func (f *Found) Spoilt() string {
	astray := 0
	for _, l := range f.Levels {
		astray += l.Astray
	}
	all := f.Orders() + astray
	switch {
	case f.GivenUp != "":
		return "it was given up: " + f.GivenUp
	case f.Timeless != "":
		return "no lease could end: " + f.Timeless
	case len(f.Doubts) > 0:
		return "an order that seemed to break it did not do so again: " + f.Doubts[0]
	case 100*astray > all:
		return fmt.Sprintf("%d of %s did not go as planned", astray, english.Count(all, "order"))
	}
	for _, l := range f.Levels {
		if l.Orders == 0 && l.Astray > 0 {
			return fmt.Sprintf("of the orders with so many faults, %d, none went as planned", l.Faults)
		}
	}
	return ""
}

// Breaks reports whether an outcome is one by which an order breaks a lock: the shortest of each kind is kept.
func Breaks(o lb.Outcome) bool { return o == lb.Broken || o == lb.Stuck || o == lb.Fence }

// Shown are the orders of a class that came to an outcome: 0 where it breaks the lock and none of them did so
// again.
func (f *Found) Shown(c *ExploredClass, o lb.Outcome) int {
	if Breaks(o) && !slices.Contains(c.Again, o) && !f.Interrupted {
		return 0
	}
	return c.Outcomes[o]
}

// CameTo counts the orders that came to an outcome, of those that are shown.
func (f *Found) CameTo(o lb.Outcome) (n int) {
	for _, c := range f.Classes {
		n += f.Shown(c, o)
	}
	return n
}
