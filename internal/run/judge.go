package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/workloads"
)

// Judge checks the history of a run. It can be done again at any time, by whoever has
// the directory.
func Judge(ctx context.Context, c catalog.Catalog, r *rundir.Run) (checker.Result, error) {
	return JudgeAs(ctx, c, r, history.ClockErrors{})
}

// JudgeAs is [Judge] with the errors of clocks taken so. What they hide may be there all the same: what is
// seen where clocks err as is likely is no harm that was shown, but then nothing less is, either.
func JudgeAs(ctx context.Context, c catalog.Catalog, r *rundir.Run, errs history.ClockErrors) (checker.Result, error) {
	res, err := judgeAs(ctx, c, r, errs)
	if err != nil || res.ClockErrorMS == 0 {
		return res, err
	}
	even, err := judgeAs(ctx, c, r, history.ClockErrors{Likely: true})
	if err != nil { // its times make no sense together
		even.Outcome = lb.Inconclusive
	}
	if even.Outcome != res.Outcome {
		res.IfEven = even.Outcome
		leaveOpen(&res, even)
	}
	return res, ctx.Err()
}

// leaveOpen takes back that nothing was seen, or that some care suffices, where the clocks may hide worse.
func leaveOpen(res *checker.Result, even checker.Result) {
	order := lb.Outcomes()
	from, to := slices.Index(order, res.Outcome), slices.Index(order, even.Outcome)
	if from < 0 || from >= to || res.Outcome == lb.Stuck {
		res.Notes = append(res.Notes, fmt.Sprintf("if the clocks ran evenly while they were not compared, it would be %s", even.Outcome))
		return
	}
	why := fmt.Sprintf("the clocks leave open whether it is %s: %s", even.Outcome, even.Reason)
	if from > 0 {
		why += "; harm was seen: " + res.Reason
	}
	res.Outcome, res.Mechanism, res.Reason = lb.Inconclusive, "", why
}

func judgeAs(ctx context.Context, c catalog.Catalog, r *rundir.Run, errs history.ClockErrors) (checker.Result, error) {
	ix, err := r.HistoryAs(ctx, errs)
	if err != nil {
		return checker.Result{}, err
	}
	var o checker.Options
	// A workload that this program does not have may have recorded it: then the layers
	// that know every workload are all there is.
	if w, err := c.Workload(r.Plan.Workload); err == nil {
		if own, ok := w.(workloads.Judge); ok {
			o.Workload = func(ix *history.Index) checker.Layer { return own.Judge(ix, r.Plan) }
		}
	}
	res := o.Check(ctx, r.Plan, ix)
	if why := r.Ended(ix); why != nil {
		cut(&res, why)
	}
	return res, ctx.Err()
}

// cut takes back what the rest of a run that was cut short might have refuted. Harm
// that was done stays, unless it comes of a program that can not be believed.
func cut(res *checker.Result, why error) {
	if errors.Is(why, rundir.ErrProgram) {
		res.Layers, res.Claims = nil, nil
	}
	harm := !errors.Is(why, rundir.ErrProgram) // else who knows what its answers meant
	switch {
	case harm && (res.Outcome == lb.Broken || res.Outcome == lb.Stuck):
		res.Notes = append(res.Notes, why.Error())
		return
	case harm && (res.Outcome == lb.Check || res.Outcome == lb.Fence):
		why = fmt.Errorf("%w; harm was seen: %s", why, res.Reason)
	}
	res.Outcome, res.Mechanism, res.Reason, res.Failed = lb.Inconclusive, "", why.Error(), true
}

// wasInterrupted reports whether somebody wanted the run to end early, and it had shown
// no harm by then.
func wasInterrupted(res checker.Result) bool {
	return res.Failed && strings.HasPrefix(res.Reason, rundir.Interrupted)
}

// runFailed begins the reason of a run that failed.
const runFailed = "the run failed: "

// failed is the result of a run of which the bench made nothing.
func failed(plan history.Plan, why error) checker.Result {
	reason := runFailed + why.Error()
	switch {
	case errors.Is(why, rundir.ErrProgram):
		reason = why.Error()
	case errors.Is(why, context.Canceled):
		reason = rundir.Interrupted
	}
	return checker.Result{Schema: history.Schema, Plan: plan, Outcome: lb.Inconclusive, Reason: reason, Failed: true,
		Copies: map[string]checker.Copy{}, OutageMS: -1, FirstViolationMS: -1}
}
