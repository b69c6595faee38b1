package explore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/processes"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

// TTL is the lease of every lock that is explored: so long that none ends while an order takes
// place, unless it is made to.
const TTL = 30 * time.Second

// ends says what ends when a lease's time passes.
type ends int

const (
	endsNothing  ends = iota // no lock of this algorithm ends by itself
	endsLeases               // by the server's clock
	endsSessions             // with the client's session
)

// engine performs orders, each with a lock of its own, on the same servers.
type engine struct {
	Bounds Bounds
	rules  rules

	impl    lb.Impl
	info    lb.Info
	work    workloads.Workload
	service *lab.Service
	speaks  wire.Language
	store   string
	prefix  string
	time    virtual
	ends    ends
	allowed int // faults, in the orders that are walked now
	lags    time.Duration
	apart   bool
	forks   bool
	quorum  bool // sessions outlive their connections
	volleys bool // a client sends several requests at once, so that one that stands says nothing

	// reuse has clients live on from order to order; those wait in the pool.
	reuse bool
	pool  []*client

	// timeless says why no lease may end: the clients' clocks do not follow, or time stands. "" if it may.
	timeless string
	// stands: no time can pass on the servers, which end leases and no sessions.
	stands bool

	n       int // orders so far
	held    held
	below   []int // the processes of the lab
	threads threads

	mu    sync.Mutex
	now   *order
	wrong *foreign.Finding
}

// newEngine has a protected store of its own, until ctx ends.
func newEngine(ctx context.Context, impl lb.Impl, work workloads.Workload, b Bounds, t lab.Topology, service *lab.Service) (*engine, error) {
	impl = foreign.Hearing(impl, t.Kind.Speaks)
	info := impl.Info()
	e := &engine{Bounds: b, impl: impl, info: info, work: work, service: service, prefix: fmt.Sprintf("%s:explored:%x:", lb.Prefix, time.Now().UnixNano())}
	switch {
	case info.Traits.Session:
		e.ends = endsSessions
	case (t.Quorum() || t.Kind.Monotonic) && info.Traits.Leased:
		e.stands = true
		if min(b.Faults, b.Expiries+b.Crashes) > 0 {
			e.timeless = "the servers end leases by a monotonic clock, which can't be made to leap; so nobody dies either, whose lease could not end (--expiries 0 --crashes 0 leave these orders out)"
		}
	case t.Clock() && !t.Quorum() && !t.Sessions(), t.Clock() && info.Traits.Leased:
		e.ends = endsLeases
	}
	e.lags, e.apart, e.forks = t.Kind.Lags, t.Kind.Apart, t.Kind.Forks
	e.quorum = t.Quorum()
	e.volleys = true // until it was seen that none does
	e.rules, e.speaks = rulesOf(info, t.Kind.Speaks), t.Kind.Speaks
	if !info.Traits.Push && !info.Traits.Fair && !info.NoTry {
		e.impl = patient{impl}
	}
	var err error
	if e.held.counter, err = service.Counter(); err != nil && !errors.Is(err, lab.ErrNoCount) {
		return nil, err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e.store = l.Addr().String()
	store := workloads.NewStore(func(ev history.Event) {
		if o := e.current(); o != nil {
			o.record(nil, ev)
		}
	})
	go func() { _ = store.Serve(ctx, l) }()
	return e, nil
}

func (e *engine) current() *order {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// Begin implements [Subject].
func (e *engine) Begin(ctx context.Context) (Order, error) {
	o, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (e *engine) begin(ctx context.Context) (*order, error) {
	e.n++
	prefix := fmt.Sprintf("%s%08d:", e.prefix, e.n) // as long for each: answers may tell how long
	o := &order{e: e, lock: prefix + workloads.DefaultLock, changed: make(chan struct{}, 1), over: make(chan struct{}), free: true, asked: map[string]int{}, done: map[string]int{}}
	e.mu.Lock()
	e.now = o
	e.mu.Unlock()
	if err := e.backToNow(); err != nil {
		return nil, err
	}
	if err := e.join(ctx, o); err != nil {
		o.End()
		if e.n > 1 && ctx.Err() == nil { // others could begin
			err = fmt.Errorf("%w: %w", errAstray, err)
		}
		return nil, err
	}
	var err error
	if e.below == nil {
		if e.below, err = processes.Of(os.Getpid()); err != nil {
			return nil, err
		}
	}
	o.mu.Lock()
	o.free = false
	o.mu.Unlock()
	if err := o.begin(ctx); err != nil {
		o.End()
		return nil, err
	}
	return o, nil
}

// others are the processes of the lab: a program may start some at any time, and so may a server.
func (e *engine) others() []int {
	if e.info.Program || e.forks {
		if below, err := processes.Of(os.Getpid()); err == nil {
			return below
		}
	}
	return e.below
}

// join opens the clients of an order, side by side: each order has its own, since what a client keeps from
// one to the next would make two that look alike differ.
func (e *engine) join(ctx context.Context, o *order) error {
	clients, errs := make([]*client, e.Bounds.Clients), make([]error, e.Bounds.Clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() { clients[i], errs[i] = e.client(ctx, o, fmt.Sprintf("c%d", i+1)) })
	}
	all.Wait()
	for _, c := range clients {
		if c != nil {
			o.clients = append(o.clients, c)
		}
	}
	return errors.Join(errs...)
}

// client is one of that name, with a session of its own.
func (e *engine) client(ctx context.Context, o *order, name string) (*client, error) {
	if c := e.pooled(name); c != nil {
		before := *c
		for _, r := range c.relays {
			r.tell("") // what is left of the order before
		}
		*c = client{name: name, info: e.info, steps: before.steps, relays: before.relays, alone: before.alone}
		c.begin(o)
		return c, nil
	}
	c := &client{name: name, info: e.info, steps: steps(e.info)}
	c.begin(o)
	env := lb.Env{Client: name, TTL: TTL, Master: e.service.Master(), Clock: hands{c}, Rand: rand.New(rand.NewPCG(uint64(name[1]), 0))}
	for _, server := range e.service.Endpoints() {
		r, err := newRelay(server, e.speaks)
		if err != nil {
			return nil, err
		}
		c.relays, env.Servers = append(c.relays, r), append(env.Servers, r.addr())
	}
	env.Sentinels = lab.Endpoints(e.service.Sentinels)
	var err error
	ctx, cancel := context.WithTimeout(ctx, TTL)
	defer cancel()
	c.alone, err = worker.NewAlone(ctx, worker.Setting{Impl: e.impl, Workload: e.work, Env: env, Store: e.store, Record: c.record, Blame: e.blame, Begins: c.calls,
		Watch: func(p lb.Probe) lb.Probe { return probe{p, c} }})
	if err != nil {
		for _, r := range c.relays {
			r.close()
		}
		return nil, err
	}
	c.on(o)
	return c, nil
}

// begin makes the client one of the order.
func (c *client) begin(o *order) {
	c.order, c.died, c.ended, c.flying = o, make(chan struct{}), make(chan struct{}), map[lb.Actor]*flight{}
	if c.alone != nil {
		c.on(o)
	}
}

func (c *client) on(o *order) { c.alone.On(o.prefix()) }

// pooled is the client of that name that was in an order before, nil where there is none.
func (e *engine) pooled(name string) *client {
	e.mu.Lock()
	defer e.mu.Unlock()
	i := slices.IndexFunc(e.pool, func(c *client) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	c := e.pool[i]
	e.pool = slices.Delete(e.pool, i, i+1)
	return c
}

func (e *engine) blame(f *foreign.Finding) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.wrong == nil {
		e.wrong = f
	}
}

// drain ends the clients that were in an order before.
func (e *engine) drain() {
	e.mu.Lock()
	pool := e.pool
	e.pool = nil
	e.mu.Unlock()
	for _, c := range pool {
		c.close()
	}
}

// close ends the clients that are left, and forgets what was looked at.
func (e *engine) close() {
	e.drain()
	e.held.counter.Close()
	e.threads.close()
}

// endSessions ends sessions of a client, the newest first, which is most likely the one that
// its lock is tied to. The servers knew so many of them.
func (e *engine) endSessions(ctx context.Context, sessions []string) (knew int, err error) {
	for i := len(sessions) - 1; i >= 0; i-- {
		known, err := e.service.End(ctx, sessions[i])
		if err != nil {
			return knew, err
		}
		if known {
			knew++
		}
	}
	return knew, nil
}

// patient is a lock whose waiting is the scheduler's: it tries, and tries again. That of a
// library would take its own time.
type patient struct{ lb.Impl }

func (p patient) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := p.Impl.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return patientClient{c, env}, nil
}

type patientClient struct {
	lb.Client
	env *lb.Env
}

func (c patientClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	for {
		once := req
		once.Try = true
		lease, err := c.Client.Acquire(ctx, once)
		if !errors.Is(err, lb.ErrHeld) || req.Try {
			return lease, err
		}
		if err := c.env.Pause(ctx, req, time.Millisecond); err != nil {
			return nil, fmt.Errorf("%w: %w", lb.ErrNoEffect, err)
		}
	}
}
