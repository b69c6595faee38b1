package checker

import (
	"fmt"

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
}

// Check judges one run with the default options: leases count. The plan may be
// zero; then only what the events tell is judged. It never panics: a panic inside
// a layer makes that layer undecided.
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
}

var layers = []layer{
	{LayerGrant, judgeGrant},
	{LayerBelief, judgeBelief},
	{LayerOverstay, judgeOverstay},
	{LayerToken, judgeToken},
	{LayerStore, judgeStore},
	{LayerProgress, judgeProgress},
	{LayerOrder, judgeOrder},
}

func check(o Options, plan lockbench.Plan, h lockbench.History, layers []layer) lockbench.RunResult {
	r, err := read(o, plan, h)
	var judged []lockbench.Layer
	for _, l := range layers {
		if err != nil {
			judged = append(judged, undecided(l.name, err.Error()))
			continue
		}
		judged = append(judged, guard(l, r))
	}
	return conclude(r, judged)
}

// read indexes the history; like the layers it must survive any input.
func read(o Options, plan lockbench.Plan, h lockbench.History) (r *run, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = newRun(o, plan), fmt.Errorf("checker: reading the history failed: %v", p)
		}
	}()
	r = newRun(o, plan)
	r.load(h)
	return r, nil
}

// guard runs one layer and turns a panic into a result: a crash of a checker is
// something to be told, not a reason to lose the other layers.
func guard(l layer, r *run) (out lockbench.Layer) {
	defer func() {
		if p := recover(); p != nil {
			out = undecided(l.name, fmt.Sprintf("the checker itself failed: %v", p))
		}
	}()
	out = l.judge(r)
	out.Name = l.name
	for i := range out.Findings {
		out.Findings[i].Layer = l.name
	}
	return out
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
