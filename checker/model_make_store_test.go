package checker_test

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// store makes the log of a store, the accesses of which overtake each other: clients that
// read and write as the lock's holders would, some stale, some logs torn.
func (m *maker) store() {
	m.cast(2 + m.IntN(2))
	m.fenced = m.chance(0.5)
	m.now = 1
	stale := []float64{0, 0, 0.15, 0.4}[m.IntN(4)]
	torn := []float64{0, 0, 0.1}[m.IntN(3)]
	for _, v := range m.values {
		if m.chance(0.1) {
			*v = [3]int64{5, 5, 7} // the log may begin late
		}
	}
	for _, lock := range m.locks {
		for i, p := range m.clients {
			a := &made{lock: lock, id: fmt.Sprint(p.name, i), owner: p, base: *m.values[lock]}
			m.acqs = append(m.acqs, a)
			m.call(p, history.OpAcquire, lock, a.id, true)
			m.add(history.Event{Kind: history.KindReturn, Op: history.OpAcquire, Client: p.name, Lock: lock, ID: a.id, Result: lb.AnswerOK})
		}
	}
	begun := len(m.events)
	for range 2 + m.IntN(10) {
		m.now += lb.Instant(m.IntN(2))
		a := m.acqs[m.IntN(len(m.acqs))]
		if !m.chance(stale) {
			a.base = *m.values[a.lock] // it has just read
		} else if m.chance(0.3) {
			a.base[m.IntN(2)] = m.values[a.lock][0] // of one copy only
			a.base[2] = m.values[a.lock][2]
		} else if m.chance(0.3) {
			a.base[0], a.base[1] = m.values[a.lock][0], m.values[a.lock][1]
		}
		m.access(a.owner, a)
		if m.chance(torn) {
			c := m.events[len(m.events)-1].Copies
			for _, e := range []*int64{&c.Plain.Value, &c.Checked.Value, &c.Plain.New}[m.IntN(3):][:1] {
				if c.Fenced != nil && m.chance(0.3) {
					e = &c.Fenced.Value
				}
				*e += int64(m.IntN(3) - 1)
			}
		}
	}
	if m.chance(0.5) { // the times of the accesses say nothing
		some := m.events[begun:]
		m.Shuffle(len(some), func(i, j int) { some[i].At, some[j].At = some[j].At, some[i].At })
	}
}

// progress makes a history of tens of seconds, in quarters of one.
func (m *maker) progress() {
	m.cast(2 + m.IntN(2))
	m.unit = 250e6
	m.now = m.unit * lb.Instant(m.IntN(3))
	if m.now == 0 {
		m.now = 1e6
	}
	granting := []float64{0.05, 0.5, 0.9}[m.IntN(3)]
	healing := []float64{0.5, 1}[m.IntN(2)]
	polls := m.chance(0.5)
	busy := m.chance(0.3) // holders do much
	wide := []int{3, 3, 8, 25}[m.IntN(4)]
	if m.chance(0.6) {
		m.fault()
	}
	for i := range 8 + m.IntN(20) {
		if m.chance(0.6) {
			m.now += m.unit * lb.Instant(1+m.IntN(wide))
		}
		p := m.clients[m.IntN(len(m.clients))]
		switch {
		case len(m.faults) > 0 && i > 3 && m.chance(0.5*healing):
			m.fault()
			continue
		case m.chance(0.08):
			m.noise()
			continue
		case m.dead[p.home]:
			continue
		}
		switch {
		case p.waits == nil && !m.chance(0.2) && !(busy && m.chance(0.6)):
			m.acquire(p, 0)
		case p.waits == nil:
			m.tend(p)
		case m.chance(0.05):
			m.acquire(p, 0) // it has given up waiting for the answer
		case p.releases:
			m.answer(p, []lb.Answer{lb.AnswerOK, lb.AnswerOK, lb.AnswerLost, lb.AnswerFailed, lb.AnswerUnknown, lb.AnswerReleased}[m.IntN(6)])
		case m.chance(granting):
			m.answer(p, lb.AnswerOK)
		case polls:
			m.answer(p, []lb.Answer{lb.AnswerFailed, lb.AnswerFailed, lb.AnswerUnknown}[m.IntN(3)])
			if m.chance(0.8) && !m.dead[p.home] {
				m.now += m.unit * lb.Instant(m.IntN(6))
				m.acquire(p, 0)
			}
		}
	}
	if m.chance(0.5) {
		for len(m.faults) > 0 && m.chance(healing) {
			m.fault()
		}
	}
	m.now += m.unit * lb.Instant(m.IntN(60))
	if m.chance(0.8) && !m.ended {
		m.add(history.Event{Kind: history.KindEnd})
	}
}

func (m *maker) answer(p *party, result lb.Answer) {
	a := p.waits
	ev := history.Event{Kind: history.KindReturn, Op: history.OpAcquire, Client: p.name, Lock: a.lock, ID: a.id, Result: result}
	if p.releases {
		ev.Op = history.OpRelease
	} else if result == lb.AnswerOK {
		a.granted = true
		if m.chance(0.6) {
			ev.Until = m.now + m.unit*lb.Instant(m.IntN(20))
		}
	}
	p.waits = nil
	m.add(ev)
}

// tend releases an acquisition, renews it or learns that it is lost.
func (m *maker) tend(p *party) {
	if len(m.acqs) == 0 {
		m.acqs = append(m.acqs, &made{lock: m.locks[0], id: "z", owner: &party{}}) // nobody has asked for it
	}
	a := m.acqs[m.IntN(len(m.acqs))]
	for i := len(m.acqs) - 1; i >= 0 && m.chance(0.8); i-- {
		if a = m.acqs[i]; a.granted && a.owner == p {
			break
		}
	}
	switch n := m.IntN(4); {
	case n < 2:
		m.release(p, a)
	case a.owner != p:
	case n < 3:
		m.add(history.Event{Kind: history.KindRenew, Client: p.name, Lock: a.lock, ID: a.id, Until: m.now + m.unit*lb.Instant(m.IntN([]int{20, 80}[m.IntN(2)]))})
	default:
		m.add(history.Event{Kind: history.KindLost, Client: p.name, Lock: a.lock, ID: a.id})
	}
}
