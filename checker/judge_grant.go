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
	ops := r.ops()
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
	f := findings{count: res.Count - len(res.Violations)}
	for _, v := range res.Violations {
		if !confirmed(ops, v.Ops) {
			return undecided(LayerGrant, "a counterexample was not confirmed, a bug of the checker: "+v.What)
		}
		f.add(func() lockbench.Finding { return r.grantFinding(ops, v) })
	}
	slices.SortStableFunc(f.list, func(a, b lockbench.Finding) int { return cmp.Compare(a.At, b.At) })
	return f.layer(lockbench.Invalid, "%s, %s", count(len(ops), "operation"), count(res.Count, "violation"))
}

func (r *run) grantFinding(ops []Op, v Violation) lockbench.Finding {
	var acqs []*acquisition
	f := lockbench.Finding{Confirmed: true, From: Forever}
	for _, i := range v.Ops {
		op := ops[i]
		f.From = min(f.From, op.Call)
		if op.Return < Forever {
			f.To = max(f.To, op.Return)
		}
		if a := r.acqs[op.ID]; !slices.Contains(acqs, a) {
			acqs = append(acqs, a)
		}
	}
	slices.SortStableFunc(acqs, func(a, b *acquisition) int { return cmp.Compare(a.ret, b.ret) })
	f.Sentence = r.theLock(acqs[0].lock) + " was " + v.What + ": "
	f.At = f.To
	if len(acqs) > 1 { // two owners: it is seen when the second is granted
		f.Mechanism = lockbench.DoubleGrant
		f.At = min(acqs[1].ret, f.To)
	}
	for i, a := range acqs {
		if i > 0 {
			f.Sentence += "; "
		}
		f.Sentence += r.tell(a)
		f.IDs = append(f.IDs, a.id)
	}
	return f
}

// ops translates the history for [Grant]. An acquisition's number is its index
// in r.acqs. A lease ends as an Expire, and what its owner sends to release it
// afterwards proves nothing any more.
func (r *run) ops() []Op {
	ops := make([]Op, 0, 2*len(r.acqs))
	for i, a := range r.acqs {
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
