package checker_test

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// holds makes a history of grants, renewals, losses and releases: a lock service that is
// right most of the time, and its clients.
func (m *maker) holds() {
	m.cast(2 + m.IntN(3))
	m.now = lb.Instant(1 + m.IntN(3))
	m.fenced = m.focus == "tokens" || m.chance(0.3)
	sloppy := []float64{0, 0.03, 0.15, 0.4}[m.IntN(4)]
	shares := []float64{0, 0, 0.5}[m.IntN(3)]
	leased := []float64{0, 0.5, 1}[m.IntN(3)]
	steady := true // no access beyond the lease but by accident
	if m.focus == "writes" {
		leased, steady = []float64{0.3, 1}[m.IntN(2)], m.chance(0.15)
	}
	for range 6 + m.IntN(24) {
		if m.chance(0.5) {
			m.now += lb.Instant(1 + m.IntN(3))
		}
		m.expire()
		p := m.clients[m.IntN(len(m.clients))]
		if m.dead[p.home] {
			continue
		}
		switch {
		case p.waits != nil && m.chance(0.9):
			m.goOn(p, sloppy, leased)
		case m.chance(0.04):
			m.noise()
		case m.chance(0.45):
			m.acquire(p, shares)
		default:
			m.handle(p, sloppy, steady)
		}
	}
	if m.chance(0.7) {
		for _, p := range m.clients {
			for p.waits != nil && !m.dead[p.home] {
				m.goOn(p, sloppy, leased)
			}
		}
	}
	if m.chance(0.3) && !m.ended {
		m.add(history.Event{Kind: history.KindEnd})
	}
}

// expire ends some of the holds whose lease is over.
func (m *maker) expire() {
	for _, a := range m.acqs {
		if a.holds && a.until != 0 && m.now >= a.until && m.chance(0.5) {
			a.holds = false
		}
	}
}

func (m *maker) newID(lock string) string {
	for {
		id := string(rune('a' + len(m.acqs)))
		if m.chance(0.1) {
			id = string(rune('a' + m.IntN(3)))
		}
		if m.find(lock, id) == nil {
			return id
		}
	}
}

func (m *maker) find(lock, id string) *made {
	for _, a := range m.acqs {
		if a.lock == lock && a.id == id {
			return a
		}
	}
	return nil
}

func (m *maker) acquire(p *party, shares float64) {
	lock := m.locks[m.IntN(len(m.locks))]
	var a *made
	if i := slices.IndexFunc(m.acqs, func(a *made) bool { return a.owner.name == "" }); i >= 0 && m.chance(0.5) {
		a = m.acqs[i] // it was given back before
		a.owner = p
	} else {
		a = &made{lock: lock, id: m.newID(lock), owner: p}
		m.acqs = append(m.acqs, a)
	}
	a.shared = m.chance(shares)
	p.waits, p.releases, p.acts = a, false, false
	m.call(p, history.OpAcquire, a.lock, a.id, a.shared)
}

func (m *maker) call(p *party, op, lock, id string, shared bool) {
	ev := history.Event{Kind: history.KindCall, Op: op, Client: p.name, Lock: lock, ID: id, Shared: shared}
	if p.say {
		ev.Worker, p.say = p.home, false
	}
	m.add(ev)
}

// free says whether the lock service may grant a.
func (m *maker) free(a *made) bool {
	for _, o := range m.acqs {
		if o.holds && o.lock == a.lock && !(a.shared && o.shared) && !(m.plan.Traits.Reentrant && o.owner == a.owner) {
			return false
		}
	}
	return true
}

// goOn lets the service do what p waits for, or p hear of it.
func (m *maker) goOn(p *party, sloppy, leased float64) {
	a := p.waits
	if !p.acts {
		p.acts, p.ok = true, true
		if !p.releases {
			p.ok = m.free(a) || m.chance(sloppy)
			a.holds = p.ok
		} else if p.ok = a.holds; true {
			a.holds = false
		}
		if m.chance(0.4) {
			return
		}
	}
	p.waits = nil
	ev := history.Event{Kind: history.KindReturn, Op: history.OpAcquire, Client: p.name, Lock: a.lock, ID: a.id}
	if p.releases {
		ev.Op = history.OpRelease
	}
	switch {
	case m.chance(0.1):
		ev.Result = lb.AnswerUnknown
	case p.releases && m.chance(0.1):
		ev.Result = lb.AnswerReleased
	case p.ok != m.chance(sloppy/2):
		ev.Result = lb.AnswerOK
	case p.releases:
		ev.Result = []lb.Answer{lb.AnswerLost, lb.AnswerLost, lb.AnswerFailed}[m.IntN(3)]
	default:
		ev.Result = lb.AnswerFailed
	}
	ev.Shared = ev.Op == history.OpAcquire && a.shared && m.chance(0.3)
	if ev.Op == history.OpAcquire && ev.Result == lb.AnswerOK {
		a.granted = true
		if m.chance(leased) {
			ev.Until = max(1, m.now+lb.Instant(m.IntN(12)-1))
			if m.chance(0.03) {
				ev.Until = max(1, m.now-lb.Instant(m.IntN(6))) // it was over when it was heard of
			}
			a.until = ev.Until
		}
		ev.Token = m.nextToken(a, sloppy)
		a.token = ev.Token
	}
	m.add(ev)
}

func (m *maker) nextToken(a *made, sloppy float64) uint64 {
	if !m.fenced && !m.chance(0.01) || m.fenced && m.chance(0.02) {
		return 0
	}
	if m.chance(sloppy / 2) {
		return 1 + m.Uint64N(m.token+2)
	}
	for _, o := range m.acqs {
		same := o.owner == a.owner && m.plan.Traits.Reentrant
		if o.token != 0 && o.lock == a.lock && (o.holds || m.chance(0.1)) && (a.shared && o.shared || same) && m.chance(0.7) {
			return o.token
		}
	}
	m.token++
	return m.token
}

// handle does something about an acquisition that was asked for, mostly one's own.
func (m *maker) handle(p *party, sloppy float64, steady bool) {
	var mine, others []*made
	for _, a := range m.acqs {
		if a.owner == p {
			mine = append(mine, a)
		} else {
			others = append(others, a)
		}
	}
	if len(others) > 0 && (len(mine) == 0 || m.chance(0.08)) {
		if m.chance(0.5) {
			m.release(p, others[m.IntN(len(others))])
		}
		return
	}
	if len(mine) == 0 {
		if m.chance(0.1) && m.find(m.locks[0], "z") == nil {
			m.acqs = append(m.acqs, &made{lock: m.locks[0], id: "z", owner: &party{}})
			m.release(p, m.acqs[len(m.acqs)-1]) // nobody has asked for it
		}
		return
	}
	a := mine[m.IntN(len(mine))]
	if m.chance(0.6) {
		a = mine[len(mine)-1]
	}
	if a == p.waits && !m.chance(0.1) || !a.granted && !m.chance(0.3) {
		return
	}
	n := m.IntN(20)
	if m.focus == "writes" && m.chance(0.5) {
		n = 19
	}
	switch {
	case n < 8:
		m.release(p, a)
	case n < 12:
		ev := history.Event{Kind: history.KindRenew, Client: p.name, Lock: a.lock, ID: a.id, Until: m.now + lb.Instant(m.IntN(10))}
		if !a.holds && !m.chance(sloppy) {
			return
		}
		if m.chance(0.5) {
			ev.Call = m.now - lb.Instant(m.IntN(2))
		}
		if a.until != 0 {
			a.until = max(a.until, ev.Until)
		} else {
			a.until = ev.Until
		}
		m.add(ev)
	case n < 13:
		m.add(history.Event{Kind: history.KindLost, Client: p.name, Lock: a.lock, ID: a.id})
		a.holds = a.holds && m.chance(0.5)
	default:
		if !steady || a.holds && (a.until == 0 || a.until > m.now) {
			m.access(p, a)
		}
	}
}

func (m *maker) release(p *party, a *made) {
	p.waits, p.releases, p.acts = a, true, false
	m.call(p, history.OpRelease, a.lock, a.id, false)
}
