package checker

import (
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// effect is what the healed faults measured about themselves. Of a list each must have had
// its own; of a mix, which is drawn, one will do.
func (r *run) effect() history.Proof {
	var out history.Proof
	for i := range r.Faults {
		f := &r.Faults[i]
		out.Proven = out.Proven || f.Proven
		if out.Measured != "" && f.Note != "" {
			out.Measured += "; "
		}
		out.Measured += f.Note
	}
	out.Proven = out.Proven && len(r.unproven()) == 0
	return out
}

// unproven are the faults of a list that the plan names, of which a strike was not proven or
// did not come; none where the plan names no list.
func (r *run) unproven() (names []string) {
	list := strings.Split(r.plan.Fault, ",")
	if len(list) == 1 {
		return nil
	}
	for i := range r.Faults {
		if k := slices.Index(list, r.Faults[i].Name); k >= 0 && r.Faults[i].Proven {
			list = slices.Delete(list, k, k+1)
		}
	}
	return list
}

// tried reports whether somebody could have shown what a fault had done: asked for a lock
// while it was in force, in a process that ran.
func (r *run) tried() bool {
	const moment = 5 * time.Millisecond // a process does not stop at once
	var inForce []span
	for i := range r.Faults {
		if f := &r.Faults[i]; f.Struck {
			in := f.Span()
			if f.Heal > 0 { // a process that is let go asks before it is recorded that it was
				in.To = min(in.To, f.Heal)
			}
			inForce = append(inForce, in)
		}
	}
	var asked lb.Instant
	for _, f := range history.Union(inForce) { // several may be in force at a time
		for n := range r.Acqs {
			a := &r.Acqs[n]
			if a.Client == history.None {
				continue
			}
			asking := span{From: max(a.Call, f.From), To: min(r.Waited(int32(n)), f.To)}
			if asking.From < asking.To {
				asked += total(history.Without([]span{asking}, r.SilentIn(a.Client, asking)))
			}
			if asked > lb.Instant(moment) {
				return true
			}
		}
	}
	return len(r.Faults) == 0 || r.plan.Guarded && r.worked()
}

// worked reports whether the store was used while a fault was in force: that is what
// shows something where the work needs no lock.
func (r *run) worked() bool {
	return slices.ContainsFunc(r.Faults, func(f history.Fault) bool {
		return f.Struck && slices.ContainsFunc(r.Accesses, func(a history.Access) bool { return a.Write && f.Span().Has(a.At) })
	})
}
