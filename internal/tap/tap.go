// Package tap hears what programs on a host and servers say to each other, from the packets that pass the
// host: also what is dropped there, and never arrives.
package tap

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/lab"
)

// Tap reads the connections of a host. It must be there before a connection is.
type Tap struct {
	// Speaks is the language of all of them.
	Speaks wire.Language

	mu    sync.Mutex
	conns map[link]*tapped
	asked int
	ears  []*Ear
	lost  [2]int // what nobody confirmed before its connection ended, by whose it was
	again int    // what was sent again, each part once
}

// link is a connection by its ends: the program's, which has made it, and the server's.
type link [2]netip.AddrPort

// side is who speaks.
type side int

const (
	client side = iota
	server
)

// tapped is a connection.
type tapped struct {
	says [2]stream
	wire *wire.Conn
	met  time.Time // when its begin was first heard
	open []asked   // not answered
	late bool      // its begin was sent again
}

// asked is a request, by its place among all.
type asked struct {
	name string
	nth  int
}

// Ear hears from a moment on.
type Ear struct {
	tap     *Tap
	from    int // the place of the first request
	open    int
	lost    [2]int           // before
	again   int              // before
	unmet   map[*tapped]bool // no server had answered their begin before
	answers []wire.Message
}

// Hear takes the next segment.
func (t *Tap) Hear(s lab.Segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	who, at := client, link{s.From, s.To}
	if t.conns[at] == nil && t.conns[link{s.To, s.From}] != nil {
		who, at = server, link{s.To, s.From}
	}
	c := t.conns[at]
	if s.Begins && (c == nil || who == client && s.Number+1 != c.says[client].next) { // else it asks again to be let in
		if t.conns == nil {
			t.conns = map[link]*tapped{}
		}
		c = &tapped{wire: wire.New(t.Speaks), met: time.Now()}
		t.conns[at] = c
	}
	if c == nil {
		return
	}
	if s.Begins && c.says[who].begun && !c.late {
		c.late = true
		t.again++
	}
	if s.Begins && !c.says[who].begun {
		c.says[who].begin(s.Number)
	}
	t.again += c.says[who].again(s.Number, s.Payload)
	in := c.says[who].take(s.Number, s.Payload)
	if s.Confirms {
		c.says[1-who].confirm(s.Next)
	}
	if who == client {
		for _, m := range c.wire.Said(in) {
			t.ask(c, m)
		}
	} else {
		for _, m := range c.wire.Answered(in) {
			t.answer(c, m)
		}
	}
	if s.Ends {
		delete(t.conns, at)
		for who, n := range c.fell() {
			t.lost[who] += n
		}
	}
}

// fell is how much of what was said on a connection nobody has confirmed, by who said it. To begin one
// is to say something.
func (c *tapped) fell() (n [2]int) {
	for who := range c.says {
		n[who] = len(c.says[who].unconfirmed)
	}
	if !c.says[server].begun {
		n[client]++
	}
	return n
}

func (t *Tap) ask(c *tapped, m wire.Message) {
	if m.Request == "" {
		return
	}
	t.asked++
	c.open = append(c.open, asked{m.Request, t.asked})
}

// answer finds the oldest request of that name, as the servers answer in order.
func (t *Tap) answer(c *tapped, m wire.Message) {
	i := slices.IndexFunc(c.open, func(a asked) bool { return a.name == m.Request })
	if m.Request == "" || i < 0 {
		return
	}
	for _, e := range t.ears {
		if c.open[i].nth > e.from {
			e.answers = append(e.answers, m)
		}
	}
	c.open = slices.Delete(c.open, i, i+1)
}

// Listen hears from now on.
func (t *Tap) Listen() *Ear {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := &Ear{tap: t, from: t.asked, lost: t.lost, again: t.again, unmet: map[*tapped]bool{}}
	for _, c := range t.conns {
		e.open += len(c.open)
		if !c.says[server].begun {
			e.unmet[c] = true
		}
	}
	t.ears = append(t.ears, e)
	return e
}

// Close ends it. What was heard stays.
func (e *Ear) Close() {
	e.tap.mu.Lock()
	defer e.tap.mu.Unlock()
	e.tap.ears = slices.DeleteFunc(e.tap.ears, func(o *Ear) bool { return o == e })
}

// Open is how many requests of before had not been answered when it began.
func (e *Ear) Open() int { return e.open }

// Fell is how much of what programs on the host have said, and how much of what servers have, nobody
// has confirmed by now. A part of it counts once, however often it was sent.
func (e *Ear) Fell() (said, told int) {
	e.tap.mu.Lock()
	defer e.tap.mu.Unlock()
	said, told = e.tap.lost[client]-e.lost[client], e.tap.lost[server]-e.lost[server]
	for _, c := range e.tap.conns {
		n := c.fell()
		if e.unmet[c] && !c.says[server].begun {
			n[client]-- // it began before, and may have been given up since
		}
		said, told = said+n[client], told+n[server]
	}
	return said, told
}

// Again is how much had to be sent again since, by either side. A part of it counts once, however often
// it was sent.
func (e *Ear) Again() int {
	e.tap.mu.Lock()
	defer e.tap.mu.Unlock()
	return e.tap.again - e.again
}

// Soon is by when a server has answered who wants to connect, if it does: it is its kernel that answers.
const Soon = 100 * time.Millisecond

// Unmet is how many connections programs wanted to begin since, longer than [Soon] ago, and no server has answered
// any word of. Who gives such a one up, and begins another, sends nothing again.
func (e *Ear) Unmet() (n int) {
	e.tap.mu.Lock()
	defer e.tap.mu.Unlock()
	for _, c := range e.tap.conns {
		if !c.says[server].begun && !e.unmet[c] && time.Since(c.met) > Soon {
			n++
		}
	}
	return n
}

// Answers are those to requests that were sent since, in order.
func (e *Ear) Answers() []wire.Message {
	e.tap.mu.Lock()
	defer e.tap.mu.Unlock()
	return slices.Clone(e.answers)
}
