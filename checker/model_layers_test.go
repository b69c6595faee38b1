package checker_test

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// modelBelief looks at every stretch of time in which nothing changes.
func modelBelief(h history.Events, plan history.Plan) checker.Verdict {
	w := see(h, plan)
	return w.every(func(acqs []*hold) bool {
		violated := false
		w.each(func(from, to lb.Instant) {
			var now []*hold
			for _, a := range acqs {
				if w.relies(a, from+to) {
					now = append(now, a)
				}
			}
			if plan.Traits.Permits > 1 {
				clients := map[string]bool{}
				for _, a := range now {
					clients[a.client] = true
				}
				violated = violated || len(clients) > plan.Traits.Permits
				return
			}
			for i, a := range now {
				for _, b := range now[:i] {
					violated = violated || a.client != b.client && !(a.shared && b.shared)
				}
			}
		})
		return !violated
	})
}

// relies: "from the return on while the lease lasts ... It ceases to rely on it with
// its own first call of a release, whatever that returns, with the first lost, and with
// the death of its process."
func (w *world) relies(a *hold, twice lb.Instant) bool {
	if !a.granted() || twice < 2*a.ret.t || twice > 2*a.lost || twice > 2*w.deadOf(a.client) {
		return false
	}
	for _, r := range a.releases {
		// What it does not rely on yet it does not cease to rely on.
		if r.client == a.client && r.call.at > a.ret.at && twice > 2*r.call.t {
			return false
		}
	}
	end := a.believed(twice / 2)
	return end == never || twice < 2*end
}

// modelOverstay: "A write of a client that lives, under a grant whose lease had ended,
// or whose loss the client had learned."
func modelOverstay(h history.Events, plan history.Plan) checker.Verdict {
	w := see(h, plan)
	return w.every(func(acqs []*hold) bool {
		for _, a := range acqs {
			for _, ev := range w.accesses {
				if ev.Kind != history.KindWrite || ev.Lock != a.lock || ev.ID != a.id || !a.granted() {
					continue
				}
				end := a.believed(ev.At)
				if ev.At <= w.deadOf(a.client) && (ev.At > end || ev.At > a.lost) {
					return false
				}
			}
		}
		return true
	})
}

// modelToken looks at every pair of grants.
func modelToken(h history.Events, plan history.Plan) checker.Verdict {
	w := see(h, plan)
	return w.every(func(acqs []*hold) bool {
		has := func(a *hold) bool { return a.token != 0 }
		acqs = slices.DeleteFunc(acqs, func(a *hold) bool { return !a.granted() || a.shared && !has(a) })
		if (plan.Traits.Fenced || slices.ContainsFunc(acqs, has)) && !all(acqs, has) {
			return false
		}
		for _, a := range acqs {
			for _, b := range acqs {
				switch {
				case a == b || !has(a):
				case a.token == b.token:
					if !(a.shared && b.shared) && !(plan.Traits.Reentrant && reentered(acqs, a, b)) {
						return false
					}
				case a.followed(b) && a.token > b.token && plan.Traits.Permits <= 1:
					return false
				}
			}
		}
		return true
	})
}

func all(acqs []*hold, is func(*hold) bool) bool {
	return !slices.ContainsFunc(acqs, func(a *hold) bool { return !is(a) })
}

// followed: b was asked for after a had returned. At one t that is so for what one
// client did, and may be either way for two.
func (a *hold) followed(b *hold) bool {
	return b.call.t > a.ret.t || b.call.t == a.ret.t && a.client == b.client && b.call.at > a.ret.at
}

// reentered: "those of one client that re-entered: each was asked for before one with the
// same token had returned from a release with ok, lost or released."
func reentered(acqs []*hold, a, b *hold) bool {
	if a.client != b.client {
		return false
	}
	if b.call.at < a.call.at {
		b = a
	}
	for _, one := range acqs {
		if one.token == b.token && one.client == b.client && one.call.at < b.call.at && !one.givenBackBefore(b.call, b.client) {
			return true
		}
	}
	return false
}

func (a *hold) givenBackBefore(m moment, client string) bool {
	for _, r := range a.releases {
		if r.result != lb.AnswerOK && r.result != lb.AnswerLost && r.result != lb.AnswerReleased {
			continue
		}
		if r.ret.t < m.t || r.ret.t == m.t && r.client == client && r.ret.at < m.at {
			return true
		}
	}
	return false
}
