package worker

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
)

// probe shows a client's moves to the traps and the recorder, and counts its requests.
type probe struct {
	client string
	traps  *traps
	record func(history.Event)
	asks   map[string]bool // the steps before a request

	owner    atomic.Value         // of the operation in hand
	entered  atomic.Pointer[door] // before its first request
	asking   atomic.Bool          // for the lock
	requests atomic.Int64         // that were sent for it; renewals run beside it

	work []string // the steps of the workload, which are around no request

	mu       sync.Mutex
	sessions []string
	sent     map[string]bool // the requests of the client, by name
	news     []string        // those that it has not told of
}

// door is the step before the first request of a call, which lets nobody by before it was passed: a lock
// may send its first requests to several servers at once.
type door struct {
	step string
	once sync.Once
	err  error
}

// begin starts counting the requests of one operation, the first of which is behind the step entered.
func (p *probe) begin(owner, entered string) {
	p.owner.Store(owner)
	p.requests.Store(0)
	p.entered.Store(&door{step: entered})
}

// Session implements [lb.SessionProbe].
func (p *probe) Session(name string) {
	const most = 32 // that can still be alive; there may be one an acquisition
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions = slices.DeleteFunc(p.sessions, func(old string) bool { return old == name })
	p.sessions = append(p.sessions[max(0, len(p.sessions)-most+1):], name)
}

// told is what the client is at.
func (p *probe) told() Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := Client{Name: p.client, Sessions: slices.Clone(p.sessions)}
	if p.asking.Load() {
		c.Asks, _ = p.owner.Load().(string)
	}
	return c
}

// Step implements [lb.Probe].
func (p *probe) Step(ctx context.Context, m lb.Move) error {
	p.note(m.Name)
	var first *door
	if p.asks[m.Name] && m.Actor != lb.Renewal && m.Owner == p.owner.Load() {
		p.requests.Add(1)
		if m.Actor == lb.Main {
			first = p.entered.Load()
		}
	}
	if p.traps == nil {
		return ctx.Err()
	}
	if first != nil {
		first.once.Do(func() {
			at := m
			at.Name = first.step
			first.err = p.traps.pass(ctx, p.client, at)
		})
		if first.err != nil {
			return first.err
		}
	}
	return p.traps.pass(ctx, p.client, m)
}

// note remembers the name of a request that is about to leave.
func (p *probe) note(step string) {
	name, ok := strings.CutPrefix(step, lb.Before(""))
	if !ok || slices.Contains(p.work, step) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent[name] {
		return
	}
	if p.sent == nil {
		p.sent = map[string]bool{}
	}
	p.sent[name], p.news = true, append(p.news, name)
}

// forget has each name be told once more.
func (p *probe) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent, p.news = nil, nil
}

// tell is what there is to tell of requests that were sent for the first time.
func (p *probe) tell() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := strings.Join(p.news, ",")
	p.news = nil
	return news
}

// Wait implements [lb.Probe]. Who gives up is not woken.
func (p *probe) Wait(ctx context.Context, m lb.Move) func() {
	return func() {
		if ctx.Err() != nil {
			return
		}
		p.record(history.Event{Kind: history.KindWake, Client: p.client, ID: m.Owner, Name: m.Name})
	}
}

// Go implements [lb.Probe]: what works beside a client is seen by its requests.
func (p *probe) Go(lb.Actor) func() { return func() {} }

// Renewed implements [lb.Probe].
func (p *probe) Renewed(l *lb.Lease, call lb.Reading) {
	p.record(history.Event{Kind: history.KindRenew, Client: p.client, Lock: l.Request.Lock, ID: l.Request.Owner,
		Call: clock.True(call), Until: clock.True(l.Until())})
}

// Lost implements [lb.Probe].
func (p *probe) Lost(l *lb.Lease, why string) {
	p.record(history.Event{Kind: history.KindLost, Client: p.client, Lock: l.Request.Lock, ID: l.Request.Owner, Note: why})
}
