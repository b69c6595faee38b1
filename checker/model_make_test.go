package checker_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// sample is a random history that makes sense, with the plan of its run.
type sample struct {
	focus  string
	events history.Events
	plan   history.Plan
}

// makeSample makes the history of a seed. Few clients do little at coarse times, so that
// much of it happens at once.
func makeSample(seed uint64) sample {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 0x6c6f636b))}
	switch n := m.IntN(10); {
	case n < 5:
		m.focus = []string{"holds", "holds", "holds", "tokens", "writes"}[n]
		m.holds()
	case n < 7:
		m.focus = "store"
		m.store()
	default:
		m.focus = "progress"
		m.progress()
	}
	if m.chance(0.3) {
		m.shuffle()
	}
	shared := slices.ContainsFunc(m.events, func(ev history.Event) bool { return ev.Shared })
	if seed%4 == 3 && m.focus != "progress" && !shared && !m.plan.Traits.Reentrant {
		m.plan.Traits.Permits = 2 + int(seed/4%2)
	}
	return m.sample
}

// maker makes one history.
type maker struct {
	*rand.Rand
	sample
	now     lb.Instant
	unit    lb.Instant
	locks   []string
	clients []*party
	acqs    []*made
	dead    map[string]bool
	faults  []string // in force
	seq     uint64
	values  map[string]*[3]int64 // of the copies, by lock
	token   uint64
	ended   bool
	fenced  bool
}

// party is a client: idle, or waiting for the answer to a call.
type party struct {
	name, home string
	say        bool // its home is still to be said in a call
	waits      *made
	releases   bool
	acts       bool // what it waits for has been done
	ok         bool // and succeeded
}

// made is an acquisition, as the imagined lock service knows it.
type made struct {
	lock, id string
	owner    *party
	shared   bool
	granted  bool // and the client knows
	holds    bool
	until    lb.Instant
	base     [3]int64 // what its client has read
	token    uint64
}

func (m *maker) chance(p float64) bool { return m.Float64() < p }

func (m *maker) add(ev history.Event) {
	ev.At = m.now
	m.events = append(m.events, ev)
}

// cast makes locks and clients.
func (m *maker) cast(clients int) {
	m.unit, m.dead, m.values = 1, map[string]bool{}, map[string]*[3]int64{}
	m.locks = []string{"l", "m"}[:1+m.IntN(5)/4]
	for _, lock := range m.locks {
		m.values[lock] = &[3]int64{}
	}
	workers, said := 1+m.IntN(3), m.chance(0.3)
	for i := range clients {
		p := &party{home: fmt.Sprint("w", 1+i%workers)}
		p.name = fmt.Sprint(p.home, ".", string(rune('A'+i)))
		switch {
		case said:
			p.name, p.say = string(rune('A'+i)), true
		case m.chance(0.1):
			p.name, p.home = string(rune('A'+i)), "" // it lives nowhere
		}
		m.clients = append(m.clients, p)
	}
	m.plan.Traits.Reentrant = m.chance(0.3)
	m.plan.Traits.Fenced = m.chance(0.05)
	m.plan.GivesUp = m.chance(0.2)
	if m.chance(0.3) {
		m.plan.Algorithm, m.plan.TTL = "sample", []time.Duration{0, time.Second, 4 * time.Second}[m.IntN(3)]
	}
}

// access adds one of the store that fits its log.
func (m *maker) access(p *party, a *made) {
	m.seq++
	ev := history.Event{Kind: history.KindRead, Client: p.name, Lock: a.lock, ID: a.id, Seq: m.seq, Token: a.token}
	now := m.values[a.lock]
	c := [3]history.CopyEffect{{Value: now[0]}, {Value: now[1]}, {Value: now[2]}}
	if m.chance(0.3) {
		again := m.chance(0.4) // it relies on what it had read before
		for i := range c {
			if again {
				c[i].Base, c[i].Result = a.base[i], []history.Decision{history.Landed, history.Landed, history.Skipped, history.Refused}[m.IntN(4)]
			}
		}
		a.base = *now
	} else {
		ev.Kind = history.KindWrite
		for i := range c {
			c[i].Base, c[i].Result = a.base[i], history.Landed
			if (i == 1 || m.focus == "store" && i == 0) && m.chance(0.2) {
				c[i].Result = history.Skipped
			}
			if i == 2 && m.chance(0.2) {
				c[i].Result = history.Refused
			}
			if c[i].Result == history.Landed {
				c[i].New = c[i].Base + []int64{1, 1, -1, 20}[m.IntN(4)]
				now[i], a.base[i] = c[i].New, c[i].New
			}
		}
	}
	ev.Copies = &history.CopyEffects{Plain: c[0], Checked: c[1]}
	if m.fenced {
		ev.Copies.Fenced = &c[2]
	}
	m.add(ev)
}

// noise adds a death, a silence, a fault, or what means nothing to a verdict.
func (m *maker) noise() {
	p := m.clients[m.IntN(len(m.clients))]
	switch n := m.IntN(14); {
	case n < 3 && p.home != "" && !p.say:
		m.kill(p.home)
	case n < 6 && p.home != "":
		wide := 4
		if m.focus == "progress" {
			wide = 40
		}
		m.add(history.Event{Kind: history.KindSilent, Worker: p.home, Call: max(1, m.now-lb.Instant(m.IntN(wide))*m.unit)})
	case n < 9:
		m.fault()
	case n < 10 && !m.dead[p.home]:
		m.add(history.Event{Kind: history.KindWake, Client: p.name, Name: "retry-delay"})
	case n < 11 && !m.dead[p.home]:
		m.add(history.Event{Kind: history.KindStep, Client: p.name, ID: "a", Name: "before-write"})
	case n < 12:
		if m.chance(0.3) {
			m.add(history.Event{Kind: history.KindCount, Name: "keys", Target: "s1", Count: m.IntN(9)})
			return
		}
		m.add(history.Event{Kind: history.KindAct, Name: "restart", Target: "s1", Phase: []string{"begin", "end"}[m.IntN(2)]})
	case n < 13:
		m.add(history.Event{Kind: history.KindFailed, Client: p.name, ID: "a"})
	case !m.ended && m.chance(0.4):
		m.ended = true
		m.add(history.Event{Kind: history.KindEnd})
	}
}

func (m *maker) kill(home string) {
	m.add(history.Event{Kind: history.KindDead, Worker: home})
	m.dead[home] = true
	for _, a := range m.acqs {
		a.holds = a.holds && (a.owner.home != home || m.chance(0.5))
	}
}

func (m *maker) fault() {
	name := []string{"cut", "pause"}[m.IntN(2)]
	if i := slices.Index(m.faults, name); i >= 0 && !m.chance(0.05) {
		m.faults = slices.Delete(m.faults, i, i+1)
		if m.chance(0.3) {
			m.add(history.Event{Kind: history.KindFault, Name: name, Phase: "heal"})
		}
		m.add(history.Event{Kind: history.KindFault, Name: name, Phase: "healed", Proven: m.chance(0.5)})
		return
	}
	if m.chance(0.1) {
		m.add(history.Event{Kind: history.KindFault, Name: name, Phase: "healed"}) // none struck
		return
	}
	m.faults = append(m.faults, name)
	m.add(history.Event{Kind: history.KindFault, Name: name, Phase: "strike"})
}

// shuffle puts lines out of order. Those of one instant stay in theirs.
func (m *maker) shuffle() {
	h := m.events
	for range 3 * len(h) {
		if i := m.IntN(max(1, len(h)-1)); i+1 < len(h) && h[i].At != h[i+1].At {
			h[i], h[i+1] = h[i+1], h[i]
		}
	}
}
