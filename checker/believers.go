package checker

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

const none = history.None

// believers are who believes at one instant: owners in the order in which they came, each
// with its beliefs. Whatever is asked of them takes the same time for three as for a
// million.
type believers struct {
	owners     int // how many
	head, tail int32
	of         []place // by owner
	beliefs    []link  // by belief
}

// place is an owner in the list of owners, with the list of its beliefs.
type place struct {
	link
	head, tail int32
}

// link is an element of a list, by its neighbours.
type link struct{ prev, next int32 }

func newBelievers(owners, beliefs int) believers {
	return believers{head: none, tail: none, of: slices.Repeat([]place{{link{none, none}, none, none}}, owners),
		beliefs: make([]link, beliefs)}
}

func (c *believers) add(owner, belief int32) {
	o := &c.of[owner]
	if o.head == none {
		c.owners++
		o.link = link{c.tail, none}
		if c.tail == none {
			c.head = owner
		} else {
			c.of[c.tail].next = owner
		}
		c.tail = owner
	}
	c.beliefs[belief] = link{o.tail, none}
	if o.tail == none {
		o.head = belief
	} else {
		c.beliefs[o.tail].next = belief
	}
	o.tail = belief
}

func (c *believers) remove(owner, belief int32) {
	o, l := &c.of[owner], c.beliefs[belief]
	if l.prev == none {
		o.head = l.next
	} else {
		c.beliefs[l.prev].next = l.next
	}
	if l.next == none {
		o.tail = l.prev
	} else {
		c.beliefs[l.next].prev = l.prev
	}
	if o.head != none {
		return
	}
	c.owners--
	if o.prev == none {
		c.head = o.next
	} else {
		c.of[o.prev].next = o.next
	}
	if o.next == none {
		c.tail = o.prev
	} else {
		c.of[o.next].prev = o.prev
	}
}

// others are a belief each of the few owners who have been here longest, but not of this one.
func (c *believers) others(than int32, few int) (beliefs []int32) {
	for owner := c.head; owner != none && len(beliefs) < few; owner = c.of[owner].next {
		if owner != than {
			beliefs = append(beliefs, c.of[owner].head)
		}
	}
	return beliefs
}
