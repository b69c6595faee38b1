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
			switch h.move.Do {
			case Hears:
				hears = append(hears, h.move)
			case Sends:
				moves = append(moves, h.move)
				if lost := (Move{c.name, Loses, h.move.What}); !lost.is(private) {
					wrong = append(wrong, lost)
				}
			case Reads, Works:
				moves = append(moves, h.move)
			}
		}
		for _, w := range c.waits {
			if w.actor != lb.Renewal && w.ends != nil && !c.dead && o.mayAskAgain(c) {
				moves = append(moves, Move{c.name, Wakes, w.what})
			}
		}
		if len(o.had) == 0 {
			for _, m := range wrong { // the first is the first client's
				if o.allows(m) {
					moves = append(moves, m)
				}
			}
			return moves
		}
		if o.asked[c.name] > 0 && c.main != resting && !c.dead {
			wrong = append(wrong, Move{Client: c.name, Do: Dies})
		}
	}
	expiries := o.expiries()
	if len(hears) > 0 && !o.allows(Move{Do: Expires}) && !o.allows(Move{Do: Ended}) { // it touches nobody else any more
		return hears[:1]
	}
	moves = append(hears, moves...)
	for _, m := range append(expiries, wrong...) {
		if o.allows(m) {
			moves = append(moves, m)
		}
	}
	return moves
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
// the last.
func (o *order) mayAskAgain(c *client) bool {
	return c.polls <= o.e.Bounds.Polls && o.byOthers(c) > c.tried
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

// amidst reports whether the client has asked some servers for the lock in a try, or for some of its keys,
// and stands before others. The lock is held.
func (c *client) amidst() bool {
	return c.acquiring && slices.ContainsFunc(c.holds, func(h *hold) bool {
		return h.actor == lb.Main && h.move.Do == Sends && !h.first && !h.again && h.move != c.began && h.move.request() == c.began.request()
	})
}

// expiries are the ends of leases and sessions that may come next.
func (o *order) expiries() (all []Move) {
	if last := o.had[len(o.had)-1]; last.Do == Expires && last.Client == "" {
		return nil
	}
	switch o.e.ends {
	case endsLeases:
		if !o.e.info.OwnClock || !slices.ContainsFunc(o.clients, (*client).amidst) {
			all = append(all, Move{Do: Expires})
		}
	case endsSessions:
		for _, c := range o.clients {
			if o.asked[c.name] == 0 || len(c.alone.Sessions()) == 0 {
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
