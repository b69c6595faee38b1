package checker

import (
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// judgeOverstay looks for writes that were sent to the store under a lease that
// had ended. That is the hazard of every lease: nobody did anything wrong, and
// the store is hurt all the same. Each acquisition is one finding.
func judgeOverstay(r *run) Layer {
	var f findings
	writes := 0
	seen := map[int32]bool{}
	for i := range r.Accesses {
		e := &r.Accesses[i]
		if !e.Write {
			continue
		}
		if writes++; seen[e.Acq] {
			continue
		}
		if ended, over := r.overstays(&r.Acqs[e.Acq], e.At); over {
			seen[e.Acq] = true
			f.add(func() Finding { return r.overstayFinding(e, ended) })
		}
	}
	switch {
	case writes == 0:
		return Layer{Verdict: Vacuous, Summary: "no write to the protected store"}
	case f.count == 0:
		return f.layer(Valid, "%s, none beyond the lease of a living client", english.Count(writes, "write"))
	}
	return f.layer(Invalid, "%s, %s with writes beyond the lease", english.Count(writes, "write"), english.Count(f.count, "acquisition"))
}

// overstays reports whether a living client acts at t beyond its lease, and when that
// had ended.
func (r *run) overstays(a *acquisition, t lb.Instant) (ended lb.Instant, over bool) {
	if t+2*r.Error > r.Dead(a) {
		return 0, false
	}
	return r.EndedBefore(a, t)
}

func (r *run) overstayFinding(e *history.Access, ended lb.Instant) Finding {
	a := &r.Acqs[e.Acq]
	f := r.finding(a)
	f.Mechanism, f.At, f.From, f.To = lb.Overstay, e.At, a.Call, e.At
	f.Sentence = fmt.Sprintf("%s wrote at %s, %s after %s", r.who(a), r.sec(e.At), seconds(e.At.Sub(ended)), r.ending(a, ended))
	if q, ok := r.frozen(a.Client, span{From: a.Call, To: e.At}); ok {
		f.Sentence += "; " + r.silence(a.Client, q)
	}
	var names []string
	for _, h := range meanwhile(r.beliefs[a.Lock], span{From: ended, To: e.At}) {
		b := &r.Acqs[h.acq]
		if b.Client == a.Client {
			continue
		}
		if len(f.IDs) < keep {
			f.IDs = append(f.IDs, r.ID(b))
		}
		if name := r.who(b); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		f.Sentence += "; meanwhile " + r.theLock(a) + " was held by " + list(names)
	}
	return f
}

// ending says in words what ended a's lease at t.
func (r *run) ending(a *acquisition, t lb.Instant) string {
	if t == a.Lost {
		return "it learned at " + r.sec(t) + " that its lock was lost"
	}
	return "its lease ended at " + r.sec(t)
}

// meanwhile lists the beliefs that overlap s, in the order of their begin.
func meanwhile(hs []held, s span) []held {
	var out []held
	for _, h := range hs {
		if h.From >= s.To {
			break
		}
		if h.Overlaps(s) {
			out = append(out, h)
		}
	}
	return out
}
