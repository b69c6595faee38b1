package explore

import (
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// Enabled implements [Order].
func (o *order) Enabled() []Move {
	o.mu.Lock()
	defer o.mu.Unlock()
	var moves, hears, wrong []Move
	for _, c := range o.clients {
		for _, h := range o.standing(c) {
			if h.move.Do == Hears {
				hears = append(hears, h.move)
				continue
			}
			moves = append(moves, h.move)
			if lost := (Move{c.name, Loses, h.move.What}); h.move.Do == Sends && !o.e.rules.isOwn(lost) {
				wrong = append(wrong, lost)
			}
		}
		if c.mayRenew() {
			moves = append(moves, Move{c.name, Calls, renew})
		}
		for _, w := range c.waits {
			if w.actor != lb.Renewal && w.ends != nil && !c.dead && o.mayAskAgain(c) {
				moves = append(moves, Move{c.name, Wakes, w.what})
			}
		}
		if o.asked[c.name] > 0 && c.main != resting && !c.dead {
			wrong = append(wrong, Move{Client: c.name, Do: Dies})
		}
		if c.acquiring && c.sent > 0 && !c.quits && !c.dead {
			wrong = append(wrong, Move{Client: c.name, Do: Quits})
		}
	}
	late := o.e.rules.told || slices.ContainsFunc([]Kind{Expires, Ended, Dies, Quits}, func(k Kind) bool { return o.allows(Move{Do: k}) })
	if len(hears) > 0 && !o.e.rules.all && !late { // the sooner, the stricter
		return hears[:1]
	}
	allowed := func(all []Move) []Move { return slices.DeleteFunc(all, func(m Move) bool { return !o.allows(m) }) }
	return o.begun(append(hears, moves...), allowed(o.expiries()), allowed(wrong))
}

// begun leaves out what would only repeat other orders: a call by which nothing has left yet is nothing to
// anybody but the client that looked at its clock. So what the call leads to comes right after it. Or the
// client pauses there while time passes, and then the end of a lease comes right after it; of several clients
// that pause, in the order of their names. The lock is held.
func (o *order) begun(moves, expiries, wrong []Move) []Move {
	last := Move{}
	if len(o.had) > 0 {
		last = o.had[len(o.had)-1]
	}
	var pauses []Move
	if o.mayPause() {
		for _, m := range moves {
			if m.Do == Calls {
				pauses = append(pauses, Move{m.Client, Pauses, m.What})
			}
		}
	}
	switch {
	case o.e.rules.calls:
		pauses = nil
	case last.Do == Pauses:
		return append(slices.DeleteFunc(pauses, func(m Move) bool { return m.String() <= last.String() }), expiries...)
	case last.Do == Calls:
		other := func(m Move) bool { return m.Do == Calls || !last.leadsTo(m) }
		if follow := slices.DeleteFunc(slices.Concat(moves, wrong), other); len(follow) > 0 {
			return follow
		}
	}
	return slices.Concat(expiries, wrong, moves, pauses) // an order without its faults is walked in vain
}

// leadsTo reports whether the other move may be what the call, as which this one began, does next.
func (m Move) leadsTo(next Move) bool {
	return m.Client == next.Client && (m.What == renew) == strings.HasPrefix(next.What, renewals) && next.Do != Dies && next.Do != Ended && next.Do != Quits
}

// standing are the client's holds that may be let go, always in the same sequence.
func (o *order) standing(c *client) []*hold {
	var all []*hold
	for _, h := range c.holds {
		if h.again && !o.mayAskAgain(c) {
			continue
		}
		if o.tooMany(c, h) {
			o.cut = true
			continue
		}
		all = append(all, h)
	}
	slices.SortStableFunc(all, func(a, b *hold) int { return strings.Compare(a.move.String(), b.move.String()) })
	return all
}

// perTry is how many requests one try may take, of a library that tries again without a pause: or two
// of them could be in each other's way for ever. So many may renew a lease, of one whose renewals make
// it renew again.
const perTry = 12

// tooMany reports whether the client has sent too much to go on with this. The lock is held.
func (o *order) tooMany(c *client, h *hold) bool {
	if h.actor == lb.Renewal {
		return h.move.Do == Sends && c.extended >= perTry*max(1, o.e.Bounds.Renewals)
	}
	return h.actor == lb.Main && c.acquiring && c.sent >= perTry*(o.e.Bounds.Polls+1)
}

// mayAskAgain reports whether another try is within the bounds, and may have another answer than
// the last: others have changed something since that began, or it has itself.
func (o *order) mayAskAgain(c *client) bool {
	return c.polls <= o.e.Bounds.Polls && (o.byOthers(c) > c.tried || c.changed)
}

// byOthers counts what others have done that the client's next answer may depend on.
func (o *order) byOthers(c *client) (n int) {
	for who, changes := range o.done {
		if who != c.name {
			n += changes
		}
	}
	return n
}

// amidst reports whether the client has looked at its clock in a try, and has not sent all that it
// measures by it. The lock is held.
func (c *client) amidst() bool {
	return c.acquiring && slices.ContainsFunc(c.holds, func(h *hold) bool {
		return h.actor == lb.Main && h.move.Do == Sends && (h.first || h.move != c.began && h.move.request() == c.began.request())
	})
}

// mayLeap reports whether no client is amidst what it measures by a clock that does not leap. The lock is held.
func (o *order) mayLeap() bool {
	return !o.e.info.OwnClock || !slices.ContainsFunc(o.clients, (*client).amidst)
}

// mayPause reports whether a lease or a session may end right after a client has begun to call. The lock is
// held.
func (o *order) mayPause() bool {
	switch {
	case o.e.timeless != "" || !o.allows(Move{Do: Expires}):
		return false
	case o.e.ends == endsSessions:
		return slices.ContainsFunc(o.clients, func(c *client) bool { return len(c.alone.Sessions()) > 0 })
	}
	return o.e.ends == endsLeases && o.mayLeap()
}

// expiries are the ends of leases and sessions that may come next. Before anybody has called they are nothing.
func (o *order) expiries() (all []Move) {
	if len(o.had) == 0 || o.e.timeless != "" {
		return nil
	}
	if last := o.had[len(o.had)-1]; last.Do == Expires && last.Client == "" {
		return nil
	}
	switch o.e.ends {
	case endsLeases:
		if o.mayLeap() {
			all = append(all, Move{Do: Expires})
		}
	case endsSessions:
		for _, c := range o.clients {
			called := slices.ContainsFunc(o.had, func(m Move) bool { return m.Client == c.name })
			if !called || len(c.alone.Sessions()) == 0 {
				continue
			}
			all = append(all, Move{Client: c.name, Do: Expires})
			stands := slices.ContainsFunc(c.holds, func(h *hold) bool { return h.actor == lb.Main })
			if c.acquiring && c.main == waiting && !stands && !c.dead {
				all = append(all, Move{Client: c.name, Do: Ended})
			}
		}
	}
	return all
}
