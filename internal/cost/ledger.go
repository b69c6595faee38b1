package cost

import (
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Origin is how a grant came about.
type Origin uint8

// The origins of grants.
const (
	// First: nobody has held the lock before.
	First Origin = iota
	// HandOff: another client gave the lock back. The time from there is what users feel.
	HandOff
	// Barging: the client itself gave the lock back, and others were waiting.
	Barging
	// Alone: the client itself gave it back, and nobody was waiting.
	Alone
	// Overlap: another client holds the lock. This is no lock.
	Overlap
)

// Grant is what a grant means.
type Grant struct {
	Origin Origin
	// Since the call of the release before, for a hand-off.
	Since time.Duration
	// Counted: it lies in the time that is measured.
	Counted bool
}

// Ledger keeps account of one lock that several clients take in turn. Its methods may be
// called from any goroutine; a client is its number, from 0.
//
// A release counts from its call: the next grant may be heard of before its return.
type Ledger struct {
	mu       sync.Mutex
	from     lb.Instant // 0: not yet measuring
	asked    []lb.Instant
	holds    []bool
	holders  int
	last     int // who gave the lock back last, -1 for nobody
	released lb.Instant
	tally    Tally
}

// Tally is the account of a ledger over the time measured.
type Tally struct {
	Grants, HandOffs, Barging, Overlaps int
	// Each client's grants.
	Each []int
	// Longest time that a client has waited for a grant, also in vain. Where that wait was Waiting, it
	// was not over at the end, and is longer than that.
	Longest time.Duration
	Waiting bool
	// Took is the time measured.
	Took time.Duration
}

// NewLedger keeps account of so many clients. What happens before [Ledger.Begin] is
// warm-up.
func NewLedger(clients int) *Ledger {
	return &Ledger{asked: make([]lb.Instant, clients), holds: make([]bool, clients), last: -1,
		tally: Tally{Each: make([]int, clients)}}
}

// Begin ends the warm-up: from now on it is measured.
func (l *Ledger) Begin(at lb.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.from = at
}

// Asked: the client waits for the lock from now on.
func (l *Ledger) Asked(client int, at lb.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[client] = at
}

// GaveUp: the client waits no longer, and has nothing.
func (l *Ledger) GaveUp(client int, at lb.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waited(client, at)
}

// waited ends a wait. The part of it before the measurement is part of the wait.
func (l *Ledger) waited(client int, at lb.Instant) {
	if l.from != 0 && l.asked[client] != 0 {
		l.tally.Longest = max(l.tally.Longest, at.Sub(l.asked[client]))
	}
	l.asked[client] = 0
}

// Granted: the client has the lock, and has just heard of it.
func (l *Ledger) Granted(client int, at lb.Instant) Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waited(client, at)
	g := Grant{Origin: l.origin(client), Counted: l.from != 0}
	if g.Origin == HandOff {
		g.Since = at.Sub(l.released)
	}
	l.holds[client] = true
	l.holders++
	if g.Counted {
		l.count(client, g.Origin)
	}
	return g
}

func (l *Ledger) origin(client int) Origin {
	switch {
	case l.holders > 0:
		return Overlap
	case l.last < 0:
		return First
	case l.last != client:
		return HandOff
	}
	for _, since := range l.asked {
		if since != 0 {
			return Barging
		}
	}
	return Alone
}

func (l *Ledger) count(client int, o Origin) {
	t := &l.tally
	t.Grants++
	t.Each[client]++
	switch o {
	case HandOff:
		t.HandOffs++
	case Barging:
		t.Barging++
	case Overlap:
		t.Overlaps++
	}
}

// Released: the client begins to give the lock back.
func (l *Ledger) Released(client int, at lb.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holds[client] {
		l.holds[client] = false
		l.holders--
	}
	l.last, l.released = client, at
}

// Grants are those counted so far.
func (l *Ledger) Grants() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tally.Grants
}

// HandOffs are those counted so far.
func (l *Ledger) HandOffs() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tally.HandOffs
}

// End closes the account. Who still waits has waited until now.
func (l *Ledger) End(at lb.Instant) Tally {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := l.tally.Longest
	for client := range l.asked {
		l.waited(client, at)
	}
	l.tally.Waiting = l.tally.Longest > over
	t := l.tally
	if l.from != 0 {
		t.Took = at.Sub(l.from)
	}
	l.from = 0
	return t
}

// Add adds the account of another lock over the same time, with the same clients.
func (t *Tally) Add(o Tally) {
	t.Grants += o.Grants
	t.HandOffs += o.HandOffs
	t.Barging += o.Barging
	t.Overlaps += o.Overlaps
	if o.Longest > t.Longest {
		t.Longest, t.Waiting = o.Longest, o.Waiting
	}
	t.Took = max(t.Took, o.Took)
	if t.Each == nil {
		t.Each = make([]int, len(o.Each))
	}
	for i, n := range o.Each {
		t.Each[i] += n
	}
}

// PerSecond is the rate of n things in the time measured.
func (t Tally) PerSecond(n int) float64 {
	if t.Took <= 0 {
		return 0
	}
	return float64(n) / t.Took.Seconds()
}

// Share of n things among the grants, from 0 to 1.
func (t Tally) Share(n int) float64 { return float64(n) / float64(max(1, t.Grants)) }
