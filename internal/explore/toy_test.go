package explore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// toy is a lock on a server with a few clients, in memory: what an order is walked of, so small
// that all interleavings can be tried one by one. Whatever a move touches keeps a trace of it, so
// that two sequences leave the same behind only if none of their differences can be seen.
type toy struct {
	rules   rules
	bounds  Bounds
	allowed int // faults
	ends    ends
	tied    bool // the lock ends with the client
	plans   []toyPlan
	push    bool // the server lets who was refused wait, and tells it when it may go on
	wakes   bool // such a wait may end by time
	lies    bool // the lock excludes nobody
	hears   toyHears
	counts  bool // a request that is refused changes nothing, and the order says so
	reads   bool // the store, as soon as it has the lock, without a move of its own
	most    int  // of interleavings that are tried; 0: few
	forgets bool // a server that knows who has the lock, and no more; and a client is told but that
}

// toyHears says when an answer is heard.
type toyHears int

const (
	atOnce  toyHears = iota
	later            // as a move among the others
	nextOne          // as the only move that may come next, but for the end of a lease
	atLast           // so, but only where no lease may end any more
)

// toyPlan is what a client does.
type toyPlan struct {
	acquisitions int
	works        int // under the lock
	looks        int // requests before each acquisition
	renewals     int // by somebody who works beside it, while it has the lock
}

// toyAt is where a client stands.
type toyAt int

const (
	atLook toyAt = iota
	atGet
	atWork
	atPut
	atWait // in the server
	atRest
)

type toyClient struct {
	plan    toyPlan
	at      toyAt
	left    int // of what it does there
	done    int // acquisitions
	again   bool
	polls   int
	tried   int
	renewed int
	dead    bool
	heard   bool   // no answer is under way
	answer  string // that is
	trace   uint64
	asked   int
	changed int // by what it asked
}

// toyOrder is one order of a toy, and can be copied.
type toyOrder struct {
	*toy
	clients []toyClient
	had     []Move
	anyones int // ends of leases, which all may ask again after
	holder  int // -1: nobody
	queue   []int
	server  uint64
	store   uint64
	nothing bool // the last move has changed nothing
}

func (m *toy) begin() *toyOrder {
	o := &toyOrder{toy: m, holder: -1}
	for _, p := range m.plans {
		o.clients = append(o.clients, toyClient{plan: p, at: atRest, heard: true})
		o.clients[len(o.clients)-1].next()
	}
	return o
}

// Begin implements [Subject].
func (m *toy) Begin(context.Context) (Order, error) { return m.begin(), nil }

func (o *toyOrder) copied() *toyOrder {
	c := *o
	c.clients, c.had, c.queue = slices.Clone(o.clients), slices.Clone(o.had), slices.Clone(o.queue)
	return &c
}

// next begins the next acquisition, if there is one.
func (c *toyClient) next() {
	if c.done == c.plan.acquisitions {
		c.at = atRest
		return
	}
	c.done++
	c.at, c.left, c.again, c.polls = atLook, c.plan.looks, false, 0
	if c.left == 0 {
		c.at = atGet
	}
}

func toyName(i int) string { return fmt.Sprintf("c%d", i+1) }

func (o *toyOrder) byOthers(i int) int {
	n := o.anyones
	for k, c := range o.clients {
		if k != i {
			n += c.changed
		}
	}
	return n
}

func (o *toyOrder) mayAskAgain(i int) bool {
	c := &o.clients[i]
	return c.polls <= o.bounds.Polls && o.byOthers(i) > c.tried
}

func (o *toyOrder) allows(m Move) bool {
	had := slices.DeleteFunc(slices.Clone(o.had), func(m Move) bool { return !m.Fault() })
	return len(had) < o.allowed && o.bounds.allows(had, m)
}

// holds are the requests that may be sent, and the work that may be done.
func (o *toyOrder) holds(i int) (all []Move) {
	c, name := &o.clients[i], toyName(i)
	if c.dead {
		return nil
	}
	if !c.heard {
		all = append(all, Move{name, Hears, c.answer})
	} else {
		switch c.at {
		case atLook:
			all = append(all, Move{name, Sends, "peek"})
		case atGet:
			if !c.again || o.mayAskAgain(i) {
				all = append(all, Move{name, Sends, "take"})
			}
		case atWork:
			all = append(all, Move{Client: name, Do: Works})
		case atPut:
			all = append(all, Move{name, Sends, "put"})
		}
	}
	if c.at == atWork && c.heard && c.renewed < c.plan.renewals {
		all = append(all, Move{name, Sends, "renewal's renew"})
	}
	slices.SortStableFunc(all, func(a, b Move) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// Enabled implements [Order].
func (o *toyOrder) Enabled() []Move {
	var moves, hears, wrong []Move
	for i := range o.clients {
		c, name := &o.clients[i], toyName(i)
		for _, m := range o.holds(i) {
			switch m.Do {
			case Hears:
				hears = append(hears, m)
			case Sends:
				moves = append(moves, m)
				wrong = append(wrong, Move{name, Loses, m.What})
			default:
				moves = append(moves, m)
			}
		}
		if o.wakes && c.at == atWait && c.heard && !c.dead && o.mayAskAgain(i) {
			moves = append(moves, Move{name, Wakes, "queue"})
		}
		if c.asked > 0 && c.at != atRest && !c.dead {
			wrong = append(wrong, Move{Client: name, Do: Dies})
		}
	}
	switch {
	case len(hears) == 0:
	case o.hears == nextOne, o.hears == atLast && !o.rules.told && !o.allows(Move{Do: Expires}) && !o.allows(Move{Do: Dies}):
		moves, wrong = hears[:1], nil
	default:
		moves = append(hears, moves...)
	}
	var first []Move
	for _, m := range append(o.expiries(), wrong...) {
		if o.allows(m) {
			first = append(first, m)
		}
	}
	return append(first, moves...)
}

func (o *toyOrder) expiries() (all []Move) {
	if len(o.had) == 0 {
		return nil
	}
	if last := o.had[len(o.had)-1]; last.Do == Expires && last.Client == "" {
		return nil
	}
	switch o.ends {
	case endsLeases:
		all = append(all, Move{Do: Expires})
	case endsSessions:
		for i := range o.clients {
			if o.clients[i].asked > 0 {
				all = append(all, Move{Client: toyName(i), Do: Expires})
			}
		}
	}
	return all
}

// Do implements [Order].
func (o *toyOrder) Do(_ context.Context, m Move) error {
	if !slices.Contains(o.Enabled(), m) {
		return fmt.Errorf("%w: %s", errAstray, m)
	}
	o.do(m)
	return nil
}

// Nothing implements [effective].
func (o *toyOrder) Nothing() bool { return o.nothing }

// End implements [Order].
func (*toyOrder) End() {}

func (o *toyOrder) do(m Move) {
	o.had, o.nothing = append(o.had, m), false
	if m.Do == Expires {
		for i := range o.clients {
			o.clients[i].trace = mixed(o.clients[i].trace, m)
		}
		o.server, o.store, o.anyones = mixed(o.server, m), mixed(o.store, m), o.anyones+1
		if o.holder >= 0 && (m.Client == "" || m.Client == toyName(o.holder)) {
			o.free()
		}
		return
	}
	i := int(m.Client[1] - '1')
	c := &o.clients[i]
	switch m.Do {
	case Dies:
		c.dead = true
		o.server, o.anyones = mixed(o.server, m), o.anyones+1
		o.queue = slices.DeleteFunc(o.queue, func(k int) bool { return k == i })
		if o.holder == i && o.tied {
			o.free()
		}
	case Works:
		o.store = mixed(o.store, m)
		c.trace ^= o.store
		if o.rules.told {
			c.trace ^= o.server
		}
		if c.left--; c.left == 0 {
			c.at = atPut
		}
	case Wakes:
		o.queue = slices.DeleteFunc(o.queue, func(k int) bool { return k == i })
		c.at, c.again = atGet, true
		c.polls++
	case Hears:
		c.heard = true
	case Sends, Loses:
		o.request(i, m)
	}
	c.trace = mixed(c.trace, m)
}

// request has the server do what it is asked.
func (o *toyOrder) request(i int, m Move) {
	c := &o.clients[i]
	o.nothing = o.counts && m.Do == Sends && (m.What == "take" && o.holder >= 0 && !o.lies && o.holder != i && !o.push || m.What == "put" && o.holder != i)
	if !o.rules.onlyReads(m) && !o.nothing {
		if c.changed++; !o.forgets {
			o.server = mixed(o.server, Move{m.Client, Sends, m.What})
		}
	}
	if o.forgets {
		c.trace ^= uint64(o.holder + 2)
	} else {
		c.trace ^= o.server
	}
	c.asked++
	if m.What != "renewal's renew" {
		c.tried = o.byOthers(i)
	} else {
		c.renewed++
		return
	}
	if o.hears != atOnce && o.ends != endsNothing && o.allowed > 0 && m.Do == Sends {
		c.heard, c.answer = false, m.What
	}
	switch m.What {
	case "peek":
		if c.left--; c.left == 0 {
			c.at = atGet
		}
	case "take":
		switch {
		case o.holder < 0 || o.lies || o.holder == i:
			o.holder, c.at, c.left = i, atWork, c.plan.works
			if o.reads {
				c.trace ^= o.store
			}
		case m.Do == Loses:
		case o.push:
			o.queue = append(o.queue, i)
			c.at = atWait
		default:
			c.again = true
			c.polls++
		}
		if m.Do == Loses {
			c.at = atPut // whatever it has, it gives back
		}
		if c.at == atWork && c.left == 0 {
			c.at = atPut
		}
	case "put":
		if o.holder == i {
			o.free()
		}
		c.next()
	}
}

// Key implements [keyed].
func (o *toyOrder) Key() key {
	wrong := map[Kind]int{}
	for _, m := range o.had {
		if m.Fault() {
			wrong[m.Do]++
		}
	}
	text := fmt.Sprintf("%v %v %s", o.Enabled(), wrong, o.outcome())
	for i, c := range o.clients {
		c.tried, c.changed = o.byOthers(i)-c.tried, 0
		text += fmt.Sprintf(" %+v", c)
	}
	return sha256.Sum256([]byte(text))
}

// free gives the lock to who has waited longest. That it has died, the server does not know,
// unless the lock is tied to it.
func (o *toyOrder) free() {
	o.holder = -1
	if len(o.queue) > 0 {
		i := o.queue[0]
		o.queue = o.queue[1:]
		c := &o.clients[i]
		o.holder, c.at, c.left = i, atWork, c.plan.works
		if c.left == 0 {
			c.at = atPut
		}
	}
}

// outcome is what an order has left behind.
func (o *toyOrder) outcome() string {
	text := fmt.Sprintf("%x %x %d %v", o.server, o.store, o.holder, o.queue)
	for _, c := range o.clients {
		text += fmt.Sprintf(" %x/%d/%t", c.trace, c.at, c.dead)
	}
	return text
}

func mixed(trace uint64, m Move) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%x %s", trace, m)
	return h.Sum64()
}

// randomToy is as small as it must be for all its interleavings to be tried.
func randomToy(r *rand.Rand) *toy {
	m := &toy{rules: bothRules[r.IntN(2)], tied: r.IntN(2) == 0, push: r.IntN(3) == 0, lies: r.IntN(4) == 0, hears: []toyHears{atOnce, later, atLast}[r.IntN(3)], ends: ends(r.IntN(3))}
	m.bounds = Bounds{Clients: 2, Polls: r.IntN(2), Expiries: min(1, r.IntN(3)), Crashes: r.IntN(2), Lost: r.IntN(2), Faults: 2}
	if r.IntN(4) == 0 && m.hears == atOnce { // else there are too many interleavings
		m.bounds.Clients = 3
	}
	m.wakes = m.push && (rules{}).depend(Move{"c1", Wakes, ""}, Move{"c2", Sends, ""})
	for range m.bounds.Clients {
		p := toyPlan{acquisitions: 1, works: r.IntN(3), renewals: r.IntN(2)}
		if m.bounds.Clients == 2 && m.hears == atOnce {
			p.acquisitions = 1 + r.IntN(2)
			p.looks = r.IntN(3 - p.acquisitions)
		}
		m.plans = append(m.plans, p)
	}
	return m
}

// all are all interleavings with so many faults, by the name of what they have in common: each
// with one of them. It is not ok where there are too many.
func (m *toy) all(t *testing.T, faults int) (classes map[string][]Move, ok bool) {
	t.Helper()
	classes = map[string][]Move{}
	outcomes := map[string]string{}
	ok = m.each(faults, cmp.Or(m.most, mostOrders), func(o *toyOrder) {
		name := nameOf(m.rules.normal(o.had))
		if before, known := outcomes[name]; !known {
			classes[name], outcomes[name] = o.had, o.outcome()
		} else if before != o.outcome() {
			t.Fatalf("%+v: the orders are said to be the same:\n%s\n%s\nbut leave behind\n%s\n%s", *m, nameOf(classes[name]), nameOf(o.had), before, o.outcome())
		}
	})
	return classes, ok
}

// outcomes are what all interleavings with so many faults leave behind. It is not ok where there are too many.
func (m *toy) outcomes(faults int) (all map[string]bool, ok bool) {
	all = map[string]bool{}
	ok = m.each(faults, 4*mostOrders, func(o *toyOrder) { all[o.outcome()] = true })
	return all, ok
}

// each tells of every interleaving with so many faults, and reports whether these are no more than most.
func (m *toy) each(faults, most int, tell func(*toyOrder)) bool {
	w := &walk{rules: m.rules, faults: faults}
	var try func(o *toyOrder)
	try = func(o *toyOrder) {
		enabled := w.offered(o.Enabled(), o.had)
		if len(enabled) == 0 {
			if most--; countFaults(o.had) == faults {
				tell(o)
			}
		}
		for _, move := range enabled {
			if most < 0 {
				return
			}
			next := o.copied()
			next.do(move)
			try(next)
		}
	}
	try(m.begin())
	return most >= 0
}

// mostOrders that are tried one by one.
const mostOrders = 1500

func countFaults(moves []Move) (n int) {
	for _, m := range moves {
		if m.Do == Expires || m.Do == Ended || m.Do == Dies || m.Do == Loses {
			n++
		}
	}
	return n
}

func nameOf(moves []Move) string {
	var all []string
	for _, m := range moves {
		all = append(all, m.String())
	}
	return strings.Join(all, ", ")
}
