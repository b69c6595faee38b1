package explore

import (
	"context"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads"
)

// errUnjudged is an order of which nothing can be said, such as one in which a lock answers what no
// lock can mean.
var errUnjudged = fmt.Errorf("%w: it can't be judged", errAstray)

// judge has the ordinary checkers judge an order's history.
func judge(ctx context.Context, plan history.Plan, w workloads.Workload, events history.Events) (checker.Result, error) {
	ix, err := history.Of(slices.Clone(events))
	if err != nil {
		return checker.Result{}, fmt.Errorf("%w: %w", errUnjudged, err)
	}
	var o checker.Options
	if own, ok := w.(workloads.Judge); ok {
		o.Workload = func(ix *history.Index) checker.Layer { return own.Judge(ix, plan) }
	}
	res := o.Check(ctx, plan, ix)
	if res.Outcome == lb.Inconclusive && ctx.Err() == nil {
		return res, fmt.Errorf("%w: %s", errUnjudged, res.Reason)
	}
	return res, ctx.Err()
}
