package checker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// The names of the layers, in the order of [lockbench.RunResult].Layers.
const (
	LayerGrant    = "grant"
	LayerBelief   = "belief"
	LayerOverstay = "overstay"
	LayerToken    = "token"
	LayerStore    = "store"
	LayerProgress = "progress"
	LayerOrder    = "order"
)

// keep is how many findings a layer shows; it counts them all.
const keep = 10

// Options bound what judging a history may take.
type Options struct {
	// Limit is the time that each layer has; 0 is [DefaultLimit].
	Limit time.Duration
	// Memory is how many bytes each layer may use; 0 is what the machine has left.
	Memory int64
}

// Check judges one run. The plan may be zero; then only what the events tell is
// judged. It never panics and always ends: a layer that fails, or would need too much
// time or memory, is undecided, and so are all that ctx left no time for.
func Check(ctx context.Context, plan lockbench.Plan, ix *history.Index) lockbench.RunResult {
	return Options{}.Check(ctx, plan, ix)
}

// Check judges one run under these options. See the function [Check].
func (o Options) Check(ctx context.Context, plan lockbench.Plan, ix *history.Index) lockbench.RunResult {
	return check(ctx, o, plan, ix, layers)
}

// layer is one checker. It may leave measurements in the run's result fields.
type layer struct {
	name  string
	judge func(*run) lockbench.Layer
	// What it needs at most, in bytes for each acquisition and each access of the
	// store.
	perAcquisition, perAccess int64
}

func (l layer) need(acqs, accesses int) int64 {
	return l.perAcquisition*int64(acqs) + l.perAccess*int64(accesses)
}

// perAcquisition is what is common to all layers, in bytes for each acquisition.
const perAcquisition = 100

var layers = []layer{
	{LayerGrant, judgeGrant, 500, 0},
	{LayerBelief, judgeBelief, 100, 0},
	{LayerOverstay, judgeOverstay, 60, 30},
	{LayerToken, judgeToken, 200, 0},
	{LayerStore, judgeStore, 0, 100},
	{LayerProgress, judgeProgress, 300, 0},
	{LayerOrder, judgeOrder, 200, 0},
}

func check(ctx context.Context, o Options, plan lockbench.Plan, ix *history.Index, layers []layer) lockbench.RunResult {
	var r *run
	err := o.room("history's", perAcquisition*int64(len(ix.Acqs)))
	if err == nil {
		r, err = bounded(ctx, o.limit(), func() *run { return newRun(plan, ix) })
	}
	switch {
	case err != nil:
		err = fmt.Errorf("checker: reading the history failed: %w", err)
	case len(ix.Doubts) > 0:
		err = fmt.Errorf("the history is not whole: %s", strings.Join(ix.Doubts, "; "))
	}
	var judged []lockbench.Layer
	for _, l := range layers {
		if err != nil {
			judged = append(judged, undecided(l.name, err.Error()))
			continue
		}
		judged = append(judged, guard(ctx, o, l, r))
	}
	if r == nil {
		r = &run{plan: plan, Index: ix}
	}
	return conclude(r, judged)
}

func undecided(name, why string) lockbench.Layer {
	return lockbench.Layer{Name: name, Verdict: lockbench.Undecided, Summary: why}
}

// findings collects violations: the first few in full, all of them counted.
type findings struct {
	list  []lockbench.Finding
	count int
}

// add takes a function, so that no sentence is built that nobody will read.
func (f *findings) add(make func() lockbench.Finding) {
	f.count++
	if len(f.list) < keep {
		f.list = append(f.list, make())
	}
}

func (f findings) layer(verdict lockbench.Verdict, format string, args ...any) lockbench.Layer {
	return lockbench.Layer{Verdict: verdict, Summary: fmt.Sprintf(format, args...),
		Findings: f.list, Count: f.count}
}
