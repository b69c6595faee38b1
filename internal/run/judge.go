package run

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Judge checks the history of a run. It can be done again at any time, by whoever has
// the directory.
func Judge(ctx context.Context, r *rundir.Run) (lb.RunResult, error) {
	ix, err := r.History(ctx)
	if err != nil {
		return lb.RunResult{}, err
	}
	res := checker.Check(ctx, r.Plan, ix)
	if why := r.Ended(ix); why != nil {
		cut(&res, why)
	}
	return res, ctx.Err()
}

// cut takes back what the rest of a run that was cut short might have refuted. Harm
// that was done stays.
func cut(res *lb.RunResult, why error) {
	switch res.Outcome {
	case lb.Broken, lb.Stuck:
		res.Notes = append(res.Notes, why.Error())
		return
	case lb.Check, lb.Fence:
		why = fmt.Errorf("%w; harm was seen: %s", why, res.Reason)
	}
	res.Outcome, res.Reason = lb.Inconclusive, why.Error()
}

// failed is the result of a run of which the bench made nothing.
func failed(plan lb.Plan, why error) lb.RunResult {
	reason := "the run failed: " + why.Error()
	if errors.Is(why, context.Canceled) {
		reason = "the run was interrupted"
	}
	return lb.RunResult{Schema: lb.Schema, Plan: plan, Outcome: lb.Inconclusive, Reason: reason,
		Copies: map[string]lb.Copy{}, OutageMS: -1, FirstViolationMS: -1}
}

// Cell merges the runs of a cell, by the expectation that their plans carry.
func Cell(results []lb.RunResult) lb.Cell { return checker.Cell(results, infoOf(results)) }

// Decisive is the run that determines the cell; there must be one.
func Decisive(results []lb.RunResult) int { return checker.Decisive(results, infoOf(results)) }

func infoOf(results []lb.RunResult) (info lb.Info) {
	for _, r := range results {
		info.Name = r.Plan.Algorithm
		if e := r.Plan.Expect; e != nil {
			info.Expect = []lb.Expectation{*e}
		}
	}
	return info
}
