package explore

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// chain is a sequence of which only the digest is kept.
type chain [sha256.Size]byte

func (c *chain) add(all ...any) {
	h := sha256.New()
	h.Write(c[:])
	for _, a := range all {
		fmt.Fprintf(h, "%q ", fmt.Sprint(a))
	}
	h.Sum(c[:0])
}

// past is what an order's key is made of, beside what each client knows: a server is what was done to it, and
// so is the store. What it was done by is a client's move, by its number: what that sent follows from what the
// client knew.
type past struct {
	effects chain // requests that may have changed something, and all that goes wrong
	links   chain // connections that were made
	store   chain
	leaps   int
	moment  bool // one has passed since the last effect
}

// known is what a client knows: what it did, was answered and told, and how often time had leapt when it looked
// at a clock.
type known struct {
	chain
	moves int
	looks bool // it has looked at a clock in this move
	leaps int  // when it last did
}

// does notes that a move is about to be let go. The lock is held.
func (o *order) does(m Move) {
	switch {
	case m.Do == Expires:
		o.past.leaps++
		o.lapses()
		return
	case !m.acts():
		return
	case m.Do == Pauses: // which is nothing else to the client
		m.Do = Calls
	}
	c := o.client(m.Client)
	c.known.moves++
	c.known.add("does", m)
}

// acts reports whether it is the client that knows of the move at once, and not the servers.
func (m Move) acts() bool { return m.Client != "" && m.Do != Expires && m.Do != Ended }

// looks notes that the client looks at a clock.
func (c *client) looks() {
	c.order.mu.Lock()
	defer c.order.mu.Unlock()
	c.known.looks = true
}

// did notes what came of a move, when all is quiet.
func (o *order) did(m Move) {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked, closed := false, false
	for _, c := range o.clients {
		var heard []string
		made := 0
		for _, r := range c.relays {
			t := r.tell(o.prefix())
			heard, made, asked, closed = append(heard, t.heard...), made+t.made, asked || t.asked, closed || t.closed
		}
		if len(heard) > 0 {
			slices.Sort(heard) // several connections have no sequence
			c.known.add("hears", heard)
		}
		if made > 0 {
			o.past.links.add(c.name, made)
		}
		if k := &c.known; (k.looks || o.e.info.Program) && k.leaps != o.past.leaps { // a program does not say when it looks
			k.leaps = o.past.leaps
			k.add("leapt", k.leaps)
		}
		c.known.looks = false
	}
	changes := m.asks() && o.e.rules.changes(m)
	switch {
	case m.Fault(), m.Do == Wakes, closed, changes && !o.Nothing(), asked && !m.asks():
		by := 0
		if m.acts() {
			by = o.client(m.Client).known.moves
		}
		o.past.effects.add(m, by)
		o.past.moment = false
	case changes:
		o.past.moment = true
	}
}

// Key implements [keyed].
func (o *order) Key() key {
	enabled := o.Enabled()
	o.mu.Lock()
	defer o.mu.Unlock()
	wrong := map[Kind]int{}
	for _, m := range o.had {
		if m.Fault() {
			wrong[m.Do]++
		}
	}
	var k chain
	k.add(enabled, wrong, o.past, o.cut)
	for _, c := range o.clients {
		k.add(c.known.chain, c.place.holds, c.place.asks, c.place.called, c.place.leapt, c.dead, c.main, c.acquiring, c.quits, c.first, c.polls, c.sent, c.extended, c.renewed, c.due, c.began, c.changed, o.byOthers(c) > c.tried)
		for _, h := range c.holds {
			k.add(h.move, h.actor, h.again, h.first)
		}
		for _, w := range c.waits {
			k.add(w.what, w.actor, w.ends != nil, w.fired)
		}
	}
	return key(k)
}
