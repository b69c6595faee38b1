package checker

import (
	"fmt"
	"time"

	"github.com/lockbench/lockbench"
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

// Options change how a history is read.
type Options struct {
	// Strict ignores leases: neither a passed until nor a lost notice ends a
	// hold. It is for histories of locks that claim to be held until released.
	Strict bool
	// Limit is the time that each layer has; 0 is [DefaultLimit].
	Limit time.Duration
	// Memory is how many bytes each layer may use; 0 is what the machine has left.
	Memory int64
}

// Check judges one run with the default options: leases count. The plan may be
// zero; then only what the events tell is judged. It never panics and always ends:
// a layer that fails, or would need too much time or memory, is undecided.
func Check(plan lockbench.Plan, h lockbench.History) lockbench.RunResult {
	return Options{}.Check(plan, h)
}

// Check judges one run under these options. See the function [Check].
func (o Options) Check(plan lockbench.Plan, h lockbench.History) lockbench.RunResult {
	return check(o, plan, h, layers)
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

// perEvent is what indexing the history needs at most, in bytes for each event.
const perEvent = 400

var layers = []layer{
	{LayerGrant, judgeGrant, 400, 0},
	{LayerBelief, judgeBelief, 600, 0},
	{LayerOverstay, judgeOverstay, 200, 50},
	{LayerToken, judgeToken, 200, 0},
	{LayerStore, judgeStore, 0, 100},
	{LayerProgress, judgeProgress, 400, 0},
	{LayerOrder, judgeOrder, 200, 0},
}

func check(o Options, plan lockbench.Plan, h lockbench.History, layers []layer) lockbench.RunResult {
	r, err := read(o, plan, h)
	var judged []lockbench.Layer
	for _, l := range layers {
		if err != nil {
			judged = append(judged, undecided(l.name, err.Error()))
			continue
		}
		judged = append(judged, guard(o, l, r))
	}
	return conclude(r, judged)
}

// read indexes the history, within the same limits as the layers.
func read(o Options, plan lockbench.Plan, h lockbench.History) (*run, error) {
	r, err := newRun(o, plan), o.room("history's", perEvent*int64(len(h)))
	if err == nil {
		r, err = bounded(o.limit(), func() *run {
			r := newRun(o, plan)
			r.load(h)
			return r
		})
	}
	if err != nil {
		return newRun(o, plan), fmt.Errorf("checker: reading the history failed: %w", err)
	}
	return r, nil
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
