package workloads

import (
	"cmp"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// findings collects what a judgement found: all of it is counted, the first is told.
type findings struct {
	list  []checker.Finding
	count int
}

const mostFindings = 10

// add takes a function, so that no sentence is built that nobody will read.
func (f *findings) add(make func() checker.Finding) {
	if f.count++; len(f.list) < mostFindings {
		one := make()
		one.Layer = checker.LayerWorkload
		f.list = append(f.list, one)
	}
}

// layer is the judgement: invalid if there is any finding.
func (f *findings) layer(format string, args ...any) checker.Layer {
	l := checker.Layer{Name: checker.LayerWorkload, Verdict: checker.Valid, Summary: fmt.Sprintf(format, args...), Findings: f.list, Count: f.count}
	if f.count > 0 {
		l.Verdict = checker.Invalid
	}
	return l
}

func vacuous(why string) checker.Layer {
	return checker.Layer{Name: checker.LayerWorkload, Verdict: checker.Vacuous, Summary: why}
}

// sec writes an instant as seconds since the first event.
func sec(ix *history.Index, t lb.Instant) string { return seconds(t - ix.Start) }

func seconds(d lb.Instant) string { return fmt.Sprintf("%.3f s", float64(d)/1e9) }

// care is one of the store's copies, by what its writers do for it.
type care struct {
	name string
	of   func(*history.Access) *history.Effect // nil where it is not there
}

// cares are the copies that the accesses have: without a look at the lease, with one,
// and, where there are tokens, behind the fence.
func cares(ix *history.Index) []care {
	all := []care{
		{"", func(a *history.Access) *history.Effect { return &a.Plain }},
		{"with a look at the lease before each write", func(a *history.Access) *history.Effect { return &a.Checked }},
	}
	for i := range ix.Accesses {
		if ix.Accesses[i].HasFenced {
			return append(all, care{"behind the fence", func(a *history.Access) *history.Effect {
				if !a.HasFenced {
					return nil
				}
				return &a.Fenced
			}})
		}
	}
	return all
}

// stale is the first write that landed in the plain copy under that lock although its
// base was out of date: what can be shown of a sum that is wrong.
func stale(ix *history.Index, lock int32) *history.Access {
	for i := range ix.Accesses {
		a := &ix.Accesses[i]
		if ix.Acqs[a.Acq].Lock == lock && a.Write && a.Plain.Result == history.Landed && a.Plain.Base != a.Plain.Value {
			return a
		}
	}
	return nil
}

// about is a finding that shows an access, or the end of the run for none.
func about(ix *history.Index, lock int32, a *history.Access, format string, args ...any) checker.Finding {
	f := checker.Finding{Lock: ix.Locks[lock], Sentence: fmt.Sprintf(format, args...), At: ix.End, From: ix.Start, To: ix.End}
	if a != nil {
		acq := &ix.Acqs[a.Acq]
		f.IDs, f.At, f.From, f.To = []string{ix.ID(acq)}, a.At, acq.Call, a.At
	}
	return f
}

// change is one more of something from an instant on, or one less.
type change struct {
	at lb.Instant
	by int
}

// peak is the highest that the changes add up to; what ends in the instant in which
// something begins has ended.
func peak(changes []change) (highest int) {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now := 0
	for _, c := range changes {
		now += c.by
		highest = max(highest, now)
	}
	return highest
}

// calm reports whether nothing went wrong in s but what the lock did: no fault was in
// force, and every process ran.
func calm(ix *history.Index, s history.Span) bool {
	return !struck(ix, s) && !slices.ContainsFunc(silences(ix), func(d history.Span) bool { return d.From <= s.To && s.From <= d.To })
}

// struck reports whether a fault was in force in s.
func struck(ix *history.Index, s history.Span) bool {
	return slices.ContainsFunc(ix.Faults, func(f history.Fault) bool { return f.Span().From <= s.To && s.From <= f.Span().To })
}

// silences are the times in which some process did not run.
func silences(ix *history.Index) []history.Span {
	var all []history.Span
	for _, w := range ix.Workers {
		all = append(all, w.Silences...)
	}
	return history.Union(all)
}
