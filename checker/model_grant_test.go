package checker_test

import (
	"math/bits"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// step is an operation on the lock, in the model of the grant layer.
type step struct {
	acq      int // its acquisition, by its place in the lock's
	kind     stepKind
	from, to lb.Instant
	must     bool   // it took effect; else it may have
	after    uint64 // the steps that came before, for certain
	client   string // who called it, "" for nobody
	call     moment
	ret      moment // never if it was not answered
}

type stepKind int

const (
	takes  stepKind = iota // an acquire
	gives                  // a release that ended a hold
	finds                  // a release that found no hold
	makes                  // a release behind which there is none
	ceases                 // an end without a release
)

// modelGrant tries all orders.
func modelGrant(h history.Events, plan history.Plan) checker.Verdict {
	w := see(h, plan)
	return w.every(func(acqs []*hold) bool {
		steps := w.steps(acqs)
		s := search{acqs: acqs, steps: steps, reentrant: plan.Traits.Reentrant, permits: max(1, plan.Traits.Permits), dead: map[[2]uint64]bool{}}
		for i, st := range steps {
			if st.must {
				s.all |= 1 << i
			}
		}
		return s.from(0, 0, 0)
	})
}

// steps are the operations of one lock.
func (w *world) steps(acqs []*hold) (steps []step) {
	for i, a := range acqs {
		switch {
		case a.client == "" || a.result == lb.AnswerFailed:
		case a.result == lb.AnswerOK:
			steps = append(steps, step{acq: i, kind: takes, from: a.call.t, to: a.ret.t, must: true, client: a.client, call: a.call, ret: a.ret})
		default:
			steps = append(steps, step{acq: i, kind: takes, from: a.call.t, to: never, client: a.client, call: a.call, ret: a.ret})
		}
		ends := w.mayEnd(a)
		if ends < never {
			steps = append(steps, step{acq: i, kind: ceases, from: ends, to: never})
		}
		for _, r := range a.releases {
			if r.call.t >= ends && r.call.t >= a.call.t {
				continue // it is late, and proves nothing
			}
			st := step{acq: i, from: r.call.t, to: r.ret.t, must: true, client: r.client, call: r.call, ret: r.ret}
			own := a.granted() && r.client == a.client && r.call.at > a.ret.at
			switch r.result {
			case lb.AnswerOK:
				st.kind = gives
			case lb.AnswerLost:
				st.kind = finds
			case lb.AnswerReleased:
				if st.kind = makes; !a.granted() || !own && r.call.t <= a.ret.t {
					st.kind, st.to, st.must = gives, never, false // as an unknown one
				}
			case lb.AnswerUnknown:
				st.kind, st.to, st.must = gives, never, false
			default:
				continue
			}
			steps = append(steps, st)
		}
	}
	if len(steps) > 60 {
		panic("too many operations for the model")
	}
	// "Of one client, ... a call after the returns before it." What was not answered, or may take
	// effect later than it was, comes before nothing.
	for i := range steps {
		for k, before := range steps {
			if before.must && before.client != "" && before.client == steps[i].client && before.ret.at < steps[i].call.at {
				steps[i].after |= 1 << k
			}
		}
	}
	return steps
}

// search is for an order of the steps that is legal.
type search struct {
	acqs      []*hold
	steps     []step
	reentrant bool
	permits   int
	all       uint64
	dead      map[[2]uint64]bool // what is done and held where that leads nowhere
}

// from says whether what is left fits behind the steps that are done, the last of
// which took effect at now or as soon after as you like.
func (s *search) from(done, held uint64, now lb.Instant) bool {
	if done&s.all == s.all {
		return true
	}
	if s.dead[[2]uint64{done, held}] {
		return false
	}
	for i, st := range s.steps {
		if done&(1<<i) == 0 && st.must && st.to < now {
			s.dead[[2]uint64{done, held}] = true
			return false
		}
	}
	for i, st := range s.steps {
		if done&(1<<i) != 0 || st.to < now || st.after&^done != 0 {
			continue
		}
		next, ok := s.apply(st, held)
		if ok && s.from(done|1<<i, next, max(now, st.from)) {
			return true
		}
	}
	s.dead[[2]uint64{done, held}] = true
	return false
}

func (s *search) apply(st step, held uint64) (next uint64, ok bool) {
	self := uint64(1) << st.acq
	switch st.kind {
	case takes:
		if s.permits > 1 {
			return held | self, bits.OnesCount64(held) < s.permits
		}
		alone, allShared := true, s.acqs[st.acq].shared
		for i, other := range s.acqs {
			if held&(1<<i) == 0 {
				continue
			}
			if !s.reentrant || other.client != s.acqs[st.acq].client {
				alone = false
			}
			allShared = allShared && other.shared
		}
		return held | self, alone || allShared
	case finds:
		return held, held&self == 0
	case makes:
		return held &^ self, true
	default:
		return held &^ self, held&self != 0
	}
}
