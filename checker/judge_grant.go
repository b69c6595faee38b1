package checker

import (
	"cmp"
	"slices"

	"github.com/lockbench/lockbench"
)

// judgeGrant asks whether each grant was legal, and has every answer checked by
// somebody else: a witness by [Verify], a counterexample by porcupine.
func judgeGrant(r *run) lockbench.Layer {
	for _, a := range r.acqs {
		if a.asked > 1 {
			return undecided(LayerGrant, "the id "+a.id+" is used for more than one acquisition; ids must be unique")
		}
	}
	nested, err := r.nested()
	if err != nil {
		return undecided(LayerGrant, err.Error())
	}
	ops := r.ops(nested)
	if len(ops) == 0 {
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "no operation on a lock"}
	}
	res := Grant(ops)
	if res.Err != nil {
		return undecided(LayerGrant, res.Err.Error())
	}
	if res.Count == 0 {
		if err := Verify(ops, res.Witness); err != nil {
			return undecided(LayerGrant, "the witness was not accepted, a bug of the checker: "+err.Error())
		}
		return lockbench.Layer{Verdict: lockbench.Valid,
			Summary: count(len(ops), "operation") + " in a legal order, replayed by the verifier"}
	}
	for _, v := range res.Violations {
		if !confirmed(ops, v.Ops) {
			return undecided(LayerGrant, "a counterexample was not confirmed, a bug of the checker: "+v.What)
		}
	}
	groups := r.fold(ops, res)
	f := findings{count: res.Count - len(res.Violations)}
	for _, g := range groups {
		f.add(func() lockbench.Finding { return r.grantFinding(ops, g) })
	}
	return f.layer(lockbench.Invalid, "%s, %s", count(len(ops), "operation"), count(f.count, "violation"))
}

// cause is a violation with the number of those that follow from it.
type cause struct {
	Violation
	from      lockbench.Instant
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
		if a := r.acqs[ops[i].ID]; !slices.Contains(acqs, a) {
			acqs = append(acqs, a)
		}
	}
	slices.SortStableFunc(acqs, func(a, b *acquisition) int { return cmp.Compare(a.ret, b.ret) })
	return acqs
}

// seen is when a violation becomes visible: of two owners, when the second is
// granted.
func (r *run) seen(ops []Op, v Violation) lockbench.Instant {
	last := lockbench.Instant(0)
	for _, i := range v.Ops {
		if ops[i].Return < Forever {
			last = max(last, ops[i].Return)
		}
	}
	if acqs := r.acquisitions(ops, v); len(acqs) > 1 {
		return min(acqs[1].ret, last)
	}
	return last
}

func (r *run) grantFinding(ops []Op, c cause) lockbench.Finding {
	f := lockbench.Finding{Confirmed: true, From: Forever, At: c.from}
	for _, i := range c.Ops {
		f.From = min(f.From, ops[i].Call)
		if ops[i].Return < Forever {
			f.To = max(f.To, ops[i].Return)
		}
	}
	acqs := r.acquisitions(ops, c.Violation)
	f.Sentence = r.theLock(acqs[0].lock) + " was " + c.What
	if len(acqs) > 1 {
		f.Mechanism = lockbench.DoubleGrant
	}
	if len(acqs) == 2 && acqs[0].granted() && acqs[1].granted() && c.What == whileHeld {
		f.Sentence = r.second(acqs[0], acqs[1])
	}
	for i, a := range acqs {
		f.Sentence += []string{": ", "; "}[min(i, 1)] + r.tell(a)
		f.IDs = append(f.IDs, a.id)
	}
	if c.followers > 0 {
		f.Sentence += "; " + count(c.followers, "further violation") + " followed from it"
	}
	return f
}

// second tells of the grant that should not have been.
func (r *run) second(a, b *acquisition) string {
	s := b.who() + " was granted " + r.theLock(b.lock) + " at " + r.sec(b.ret) + " while " + a.who() + " still held it"
	if end := a.leaseEnd(); end < Forever && end > b.ret {
		s += ", " + seconds(end.Sub(b.ret)) + " before the end of its lease"
	}
	return s
}

// ops translates the history for [Grant]. An acquisition's number is its index
// in r.acqs. A lease ends as an Expire, and what its owner sends to release it
// afterwards proves nothing any more.
func (r *run) ops(without map[*acquisition]bool) []Op {
	ops := make([]Op, 0, 2*len(r.acqs))
	for i, a := range r.acqs {
		if without[a] {
			continue
		}
		op := Op{ID: int32(i), Lock: int32(r.lockNo[a.lock]), Shared: a.shared}
		expiry := Forever
		if a.asked > 0 {
			op.Kind, op.Call, op.Return, op.Result = Acquire, a.call, a.ret, resultOf(a.result)
			if op.Result == Unknown || op.Result == Lost {
				op.Return, op.Result = Forever, Unknown
			}
			ops = append(ops, op)
		}
		if a.granted() {
			expiry = min(a.leaseEnd(), a.lost, a.dead)
		}
		released := false
		for _, rel := range a.releases {
			op.Kind, op.Call, op.Return, op.Result = Release, rel.call, rel.ret, resultOf(rel.result)
			if op.Result == Unknown {
				op.Return = Forever
			}
			if op.Call < expiry {
				ops = append(ops, op)
				released = released || op.Result == OK
			}
		}
		if expiry < Forever && !released {
			op.Kind, op.Call, op.Return, op.Result = Expire, expiry, Forever, Unknown
			ops = append(ops, op)
		}
	}
	return ops
}
