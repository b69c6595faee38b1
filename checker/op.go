package checker

import (
	lb "github.com/lockbench/lockbench"
)

// Op is one operation on a lock as the grant check sees it: 40 bytes, no
// strings, so that ten millions of them fit into memory.
type Op struct {
	// Call and Return are the closed interval in which the operation took
	// effect. Return is Forever if Result is Unknown.
	Call, Return lb.Instant
	// ID is the acquisition, Lock the lock; both are small numbers from 0.
	ID, Lock int32
	// Owner is whose acquisitions hold a lock together, a number from 1; 0 where each
	// acquisition stands for itself.
	Owner int32
	// Client is who called it, a number from 1, and Order that of the call among all calls; both
	// are 0 where that is not known.
	Client int32
	Order  uint32
	Kind   OpKind
	Result lb.Answer
	// Shared is set on the acquire of the shared mode.
	Shared bool
	// After is set on a release that was called by the client of its acquisition
	// after the acquire had returned ok: it comes after it in the same instant, too.
	After bool
}

// OpKind says what an operation does.
type OpKind uint8

// The kinds of operations.
const (
	Acquire OpKind = iota
	Release
	// Expire is the end of a lease: from Call on the lock may be free without
	// any release. It is an unknown release that nobody sent.
	Expire
)

// The results of operations, as in [lb.Answer].
const (
	OK      = lb.AnswerOK
	Fail    = lb.AnswerFailed
	Unknown = lb.AnswerUnknown
	Lost    = lb.AnswerLost
	// Released ended the hold of its acquisition, if it had not ended before. It is only
	// of a release that was called after the acquire had returned ok.
	Released = lb.AnswerReleased
)

// definite reports whether the operation certainly saw the lock at some instant
// between its call and its return, so that a witness must place it.
func (o Op) definite() bool {
	return o.Kind != Expire && (o.Result == OK || o.Result == Lost || o.Result == Released)
}

// owner is who must not hold a lock together with another.
func (o Op) owner() int32 {
	if o.Owner > 0 {
		return o.Owner
	}
	return -1 - o.ID
}

// ops translates the history for [Grant]. An acquisition's number is its index.
// A lease ends as an Expire, and what was sent to release it afterwards proves
// nothing any more.
func (r *run) ops() []Op {
	ops := make([]Op, 0, 2*len(r.Acqs))
	called := func(op *Op, client int32, order uint32) {
		if op.Client, op.Order = client+1, order; r.Error > 0 || client == none {
			op.Client, op.Order = 0, 0 // by clocks that err an instant is no instant
		}
	}
	for i := range r.Acqs {
		a := &r.Acqs[i]
		op := Op{ID: int32(i), Lock: a.Lock, Shared: a.Shared}
		if r.plan.Traits.Reentrant && a.Client != none {
			op.Owner = a.Client + 1
		}
		expiry := Forever
		if a.Asked {
			op.Kind, op.Call, op.Return, op.Result = Acquire, a.Call, a.Return, a.Result
			if op.Result == Unknown {
				op.Return = Forever
			}
			called(&op, a.Client, a.Order)
			ops = append(ops, op)
		}
		if a.Granted() {
			expiry = max(r.MayEnd(a), a.Call) // nothing ends before it was asked for
		}
		released := false
		for rel := range r.Releases(a) {
			if rel.Call >= expiry {
				continue
			}
			op.Kind, op.Call, op.Return, op.Result, op.After = Release, rel.Call, rel.Return, rel.Result, rel.Own
			if rel.Client != a.Client && rel.Call+2*r.Error >= expiry {
				op.Result = Unknown // by another clock it may be late
			}
			if op.Result == Released && !(rel.Own || a.Granted() && rel.Call > a.Return) {
				op.Result = Unknown // it may have come before the grant, and done nothing
			}
			if op.Result == Unknown {
				op.Return = Forever
			}
			called(&op, rel.Client, rel.Order)
			ops = append(ops, op)
			released = released || op.Result == OK
		}
		if expiry < Forever && !released {
			op.Kind, op.Call, op.Return, op.Result, op.After = Expire, expiry, Forever, Unknown, false
			called(&op, none, 0)
			ops = append(ops, op)
		}
	}
	return ops
}
