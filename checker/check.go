package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// The names of the layers, in the order of [Result].Layers.
const (
	LayerGrant    = "grant"
	LayerBelief   = "belief"
	LayerOverstay = "overstay"
	LayerToken    = "token"
	LayerStore    = "store"
	LayerProgress = "progress"
	LayerOrder    = "order"

	// What an algorithm claims beside being a lock: there only if its plan says so.
	LayerFair   = "fair"
	LayerTold   = "told"
	LayerLeased = "leased"
	// What every lock claims: who asks while no fault is in force is answered.
	LayerAnswers = "answers"
	// And: what it takes for an acquisition it gives back.
	LayerTidy = "tidy"

	// LayerWorkload is the workload's own judgement, of a workload that has one.
	LayerWorkload = "workload"
)

// keep is how many findings a layer shows; it counts them all.
const keep = 10

// Options bound what judging a history may take.
type Options struct {
	// Limit is the time that each layer has; 0 is [DefaultLimit].
	Limit time.Duration
	// Memory is how many bytes each layer may use; 0 is what the machine has left.
	Memory int64
	// Workload judges the run in the workload's own words, if it is there. Harm that it
	// finds and that no copy of the store shows makes a run BROKEN.
	Workload func(*history.Index) Layer
}

// Check judges one run. The plan may be zero; then only what the events tell is
// judged. It never panics and always ends: a layer that fails, or would need too much
// time or memory, is undecided, and so are all that ctx left no time for.
func Check(ctx context.Context, plan history.Plan, ix *history.Index) Result {
	return Options{}.Check(ctx, plan, ix)
}

// Check judges one run under these options. See the function [Check].
func (o Options) Check(ctx context.Context, plan history.Plan, ix *history.Index) Result {
	return check(ctx, o, plan, ix, layers)
}

// layer is one checker. It may leave measurements in the run's result fields.
type layer struct {
	name  string
	judge func(*run) Layer
	// What it needs at most, in bytes for each acquisition and each access of the
	// store.
	perAcquisition, perAccess int64
	// claimed says that the layer judges a claim, and whether the lock makes it in this history.
	claimed func(lb.Traits, *history.Index) bool
}

func (l layer) need(acqs, accesses int) int64 {
	return l.perAcquisition*int64(acqs) + l.perAccess*int64(accesses)
}

// perAcquisition is what is common to all layers, in bytes for each acquisition.
const perAcquisition = 100

var layers = []layer{
	{LayerGrant, judgeGrant, 500, 0, nil},
	{LayerBelief, judgeBelief, 100, 0, nil},
	{LayerOverstay, judgeOverstay, 60, 30, nil},
	{LayerToken, judgeToken, 200, 0, nil},
	{LayerStore, judgeStore, 0, 100, nil},
	{LayerProgress, judgeProgress, 500, 0, nil},
	{LayerOrder, judgeOrder, 200, 0, nil},
	{LayerFair, judgeFair, 200, 0, func(t lb.Traits, _ *history.Index) bool { return t.Fair }},
	{LayerTold, judgeTold, 100, 0, func(t lb.Traits, _ *history.Index) bool { return t.LostNotice }},
	{LayerLeased, judgeLeased, 500, 0, func(t lb.Traits, _ *history.Index) bool { return t.Leased }},
	{LayerAnswers, judgeAnswers, 20, 0, nil},
	{LayerTidy, judgeTidy, 0, 0, func(_ lb.Traits, ix *history.Index) bool { return len(ix.Counts) > 0 }},
}

// isClaim reports whether a layer judges a claim: what it finds changes no outcome.
func isClaim(name string) bool {
	return name == LayerFair || name == LayerTold || name == LayerLeased || name == LayerAnswers || name == LayerTidy
}

func check(ctx context.Context, o Options, plan history.Plan, ix *history.Index, layers []layer) Result {
	var r *run
	err := o.room("history's", perAcquisition*int64(len(ix.Acqs)))
	if err == nil {
		r, err = bounded(ctx, o.limit(), func() *run { return newRun(plan, ix) })
	}
	switch {
	case err != nil:
		err = fmt.Errorf("reading the history failed: %w", err)
	case len(ix.Doubts) > 0:
		err = fmt.Errorf("the history is not whole: %s", strings.Join(ix.Doubts, "; "))
	case plan.Traits.Semaphore() && (plan.Traits.Reentrant || slices.ContainsFunc(ix.Acqs, func(a acquisition) bool { return a.Shared })):
		err = errors.New("a semaphore has no shared mode, and is not reentrant")
	}
	if o.Workload != nil {
		own := layer{name: LayerWorkload, judge: func(r *run) Layer { return o.Workload(r.Index) }}
		layers = append(slices.Clip(layers), own)
	}
	var judged []Layer
	for _, l := range layers {
		if l.claimed != nil && !l.claimed(plan.Traits, ix) {
			continue
		}
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

func undecided(name, why string) Layer {
	return Layer{Name: name, Verdict: Undecided, Summary: why}
}

// findings collects violations: the first few in full, all of them counted.
type findings struct {
	list  []Finding
	count int
}

// add takes a function, so that no sentence is built that nobody will read.
func (f *findings) add(make func() Finding) {
	f.count++
	if len(f.list) < keep {
		f.list = append(f.list, make())
	}
}

func (f findings) layer(verdict Verdict, format string, args ...any) Layer {
	return Layer{Verdict: verdict, Summary: fmt.Sprintf(format, args...),
		Findings: f.list, Count: f.count}
}
