package checker

import (
	"cmp"
	"slices"

	"github.com/anishathalye/porcupine"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// judgeGrant asks whether each grant was legal, and has every answer checked by
// somebody else: a witness by [Verify], a counterexample by porcupine.
func judgeGrant(r *run) Layer {
	ops := r.ops()
	if len(ops) == 0 {
		return Layer{Verdict: Vacuous, Summary: "no operation on a lock"}
	}
	res := Grant(ops, r.plan.Traits.AtOnce())
	if res.Err != nil {
		return undecided(LayerGrant, res.Err.Error())
	}
	if res.Count == 0 {
		if err := Verify(ops, res.Witness, r.plan.Traits.AtOnce()); err != nil {
			return undecided(LayerGrant, "the witness was not accepted, a bug of the checker: "+err.Error())
		}
		return Layer{Verdict: Valid,
			Summary: english.Count(len(ops), "operation") + " in a legal order, replayed by the verifier"}
	}
	f := findings{count: res.Count - len(res.Violations)}
	contradicted := ""
	for _, g := range r.fold(ops, res) {
		f.add(func() Finding {
			found := r.grantFinding(ops, g)
			switch g.confirmed(ops, r.plan.Traits.AtOnce()) {
			case porcupine.Illegal:
				found.Confirmed = true
			case porcupine.Ok:
				contradicted = g.What
			}
			return found
		})
	}
	if contradicted != "" {
		return undecided(LayerGrant, "a counterexample was not confirmed, a bug of the checker: "+contradicted)
	}
	return f.layer(Invalid, "%s, %s", english.Count(len(ops), "operation"), english.Count(f.count, "violation"))
}

// confirmed asks porcupine about the operations of the violation alone. It may not
// know: of very many, or where they are not all.
func (v *Violation) confirmed(ops []Op, permits int) porcupine.CheckResult {
	if v.Partial {
		return porcupine.Unknown
	}
	some := make([]Op, len(v.Ops))
	for i, k := range v.Ops {
		some[i] = ops[k]
	}
	return Linearizable(some, permits, confirmTime)
}

// cause is a violation with the number of those that follow from it.
type cause struct {
	Violation
	from      lb.Instant
	followers int
}

// fold leaves of each group of entangled violations the one that was seen first:
// one double grant is one finding, whatever its releases and waiters run into.
func (r *run) fold(ops []Op, res GrantResult) []cause {
	all := make([]cause, len(res.Violations))
	for i, v := range res.Violations {
		all[i] = cause{Violation: v, from: r.seen(ops, v)}
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(a.from, b.from) })
	var heads []cause
	head := map[int32]int{}
	for _, c := range all {
		group := ops[c.Ops[0]].ID
		if res.causes != nil {
			group = res.causes.root(group)
		}
		if i, ok := head[group]; ok {
			heads[i].followers++
			continue
		}
		head[group] = len(heads)
		heads = append(heads, c)
	}
	return heads
}

// acquisitions lists those of a violation in the order of their grants.
func (r *run) acquisitions(ops []Op, v Violation) []*acquisition {
	var acqs []*acquisition
	for _, i := range v.Ops {
		if a := &r.Acqs[ops[i].ID]; !slices.Contains(acqs, a) {
			acqs = append(acqs, a)
		}
	}
	slices.SortStableFunc(acqs, func(a, b *acquisition) int { return cmp.Compare(a.Return, b.Return) })
	return acqs
}

// seen is when a violation becomes visible: of two owners, when the second is
// granted.
func (r *run) seen(ops []Op, v Violation) lb.Instant {
	last := lb.Instant(0)
	for _, i := range v.Ops {
		if ops[i].Return < Forever {
			last = max(last, ops[i].Return)
		}
	}
	if acqs := r.acquisitions(ops, v); len(acqs) > 1 {
		return min(acqs[1].Return, last)
	}
	return last
}

func (r *run) grantFinding(ops []Op, c cause) Finding {
	acqs := r.acquisitions(ops, c.Violation)
	f := r.finding(acqs[0], acqs[1:]...)
	f.From, f.At = Forever, c.from
	for _, i := range c.Ops {
		f.From = min(f.From, ops[i].Call)
		if ops[i].Return < Forever {
			f.To = max(f.To, ops[i].Return)
		}
	}
	f.Sentence = r.theLock(acqs[0]) + " was " + c.What
	switch {
	case len(acqs) > 1:
		f.Mechanism = lb.DoubleGrant
	case acqs[0].Granted() && c.What == lostWhileHeld:
		f.Mechanism = lb.VanishedGrant
	}
	if len(acqs) == 2 && acqs[0].Granted() && acqs[1].Granted() && c.What == whileHeld {
		f.Sentence = r.second(acqs[0], acqs[1])
	}
	for i, a := range acqs[:min(len(acqs), keep)] {
		f.Sentence += []string{": ", "; "}[min(i, 1)] + r.tell(a)
	}
	if c.followers > 0 {
		f.Sentence += "; " + english.Count(c.followers, "further violation") + " came after it"
	}
	return f
}

// second tells of the grant that should not have been.
func (r *run) second(a, b *acquisition) string {
	s := r.who(b) + " was granted " + r.theLock(b) + " at " + r.sec(b.Return) + " while " + r.who(a) + " still held it"
	l, later := history.NewLease(a.Until), false
	for rn := range r.Renewals(a) {
		if later = rn.At > b.Return; later {
			break
		}
		l.Renew(rn.Until)
	}
	switch {
	case l.End <= b.Return && later:
		s += ", as a later renewal says"
	case l.End < Forever && l.End > b.Return:
		if s += ", " + seconds(l.End.Sub(b.Return)) + " before the end of its lease"; later {
			s += ", as it stood then"
		}
	}
	return s
}
