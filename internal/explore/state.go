package explore

import (
	"context"
	"fmt"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Await implements [slow].
func (o *order) Await(ctx context.Context, come func([]Move) bool) {
	for deadline := time.Now().Add(o.e.slowest()); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(look) {
		if come(o.Enabled()) {
			return
		}
	}
}

// state is what is known of the clients: a number that changes with it, whether somebody is on
// the way who has not said that it may have to wait, and whether all are sure to stand.
func (o *order) state() (at uint64, rushed, sure bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	sure = true
	for _, c := range o.clients {
		stands, leaves := false, false
		for _, h := range c.holds {
			stands, leaves = stands || h.actor != lb.Renewal, leaves || h.leaves()
		}
		switch {
		case c.dead:
		case leaves:
			sure = false
		case c.main == resting && c.behind <= 0, stands && !o.e.volleys && c.behind <= 0:
		default:
			sure = false
			rushed = rushed || c.main == running && len(c.holds) == 0
		}
	}
	return o.count, rushed, sure
}

// moved counts the bytes that have passed.
func (o *order) moved() (n uint64) {
	for _, c := range o.clients {
		for _, r := range c.relays {
			n += r.passed()
		}
	}
	return n
}

// atWork says who is not quiet.
func (o *order) atWork() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var who []string
	for _, c := range o.clients {
		who = append(who, fmt.Sprintf("%s at %d with %d beside it, %d held, %d waits", c.name, c.main, c.behind, len(c.holds), len(c.waits)))
	}
	return strings.Join(who, "; ")
}
