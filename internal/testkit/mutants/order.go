package mutants

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// orders are those of which some must convict a mutant, and none the other.
type orders struct {
	bounds explore.Bounds
	most   int
}

// ByOrder is the mutant that the sequence of moves alone convicts: one of the first orders within
// these bounds, at most so many.
func (mu Mutant) ByOrder(b explore.Bounds, most int) Mutant {
	mu.orders = &orders{b, most}
	return mu
}

// Of a correct lock make test walks fewer orders than of its mutant, and no more than so many: one among
// the others that convicts it is found a day later.
const (
	acquittal     = 4
	mostAcquitted = 50
)

// mostWalked is how many orders of a mutant make test walks at most. One that needs more is convicted by its run there.
const mostWalked = 200

// fewAstray are the orders that may prove nothing: on a busy machine a driver may not be back in time
// whose session has ended, and the lock is stuck once and then it is not.
const fewAstray = 2

// explore walks the orders of the mutant until one breaks it, or all of what it was made of.
func (c *court) explore(t *testing.T, mu Mutant, impl lb.Impl) {
	free, err := testkit.Take(context.Background(), 2)
	if err != nil {
		t.Error(err)
		return
	}
	defer free()
	info, most, guilty := impl.Info(), mu.orders.most, impl.Info().Name == mu.Impl.Info().Name
	if !guilty && !testkit.All() {
		most = min(most/acquittal, mostAcquitted)
	}
	var until []lb.Outcome
	if guilty {
		until = mu.Outcomes
	}
	r, err := explore.Execute(context.Background(), c.catalog, explore.Plan{ExploredLock: rundir.ExploredLock{Algorithm: info.Name, Topology: info.Topologies[0]},
		Lab: c.catalog.Labs[0].Name, Bounds: mu.orders.bounds, Budget: most, Seed: 1, Until: until}, func(explore.Progress) {})
	if err == nil && guilty {
		err = mu.convictsByOrder(r)
	} else if err == nil {
		err = acquitsByOrder(r)
	}
	if r != nil {
		t.Logf("%s: %d orders, %d performed, in %.1f s: %v", info.Name, r.Orders(), r.Performed, r.Seconds, r.Levels)
	}
	if err != nil {
		t.Errorf("%s, in %s: %v", info.Name, mu.orders.bounds, err)
	}
}

func (mu Mutant) convictsByOrder(r *explore.Result) error {
	if slices.ContainsFunc(r.Violations, func(v explore.Violation) bool { return slices.Contains(mu.Outcomes, v.Outcome) }) {
		return nil
	}
	return fmt.Errorf("not convicted by %d orders, want %v: violations %v, doubts %q", r.Orders(), mu.Outcomes, r.Violations, r.Doubts)
}

func acquitsByOrder(r *explore.Result) error {
	switch {
	case len(r.Violations) > 0:
		return fmt.Errorf("not acquitted: %s (%s): %v", r.Violations[0].Outcome, r.Violations[0].Reason, r.Violations[0].Moves)
	case len(r.Doubts) > fewAstray, slices.ContainsFunc(r.Doubts, func(d string) bool { return !strings.HasPrefix(d, string(lb.Stuck)) }):
		return fmt.Errorf("%q", r.Doubts)
	}
	for _, l := range r.Levels {
		if l.Astray > fewAstray && l.Orders < 10*l.Astray { // of so few orders the part that proves nothing is less than one
			return fmt.Errorf("%d of %d orders did not go as planned: %s", l.Astray, l.Orders+l.Astray, l.Why)
		}
	}
	return nil
}
