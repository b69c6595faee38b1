package foreign

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/wire"
)

// Lock is a lock that is a program.
type Lock struct {
	Command     Command
	Description Description
	// Expect is what it is expected to do under faults.
	Expect []lb.Expectation
	// Speaks is what it and the servers say to each other: see [Hearing].
	Speaks wire.Language
}

// New is the lock that a command starts, and that says so much of itself.
func New(c Command, d Description) *Lock { return &Lock{Command: c, Description: d} }

// Hearing is the lock on servers that speak s: see [Hearing].
func (l *Lock) Hearing(s wire.Language) lb.Impl {
	on := *l
	on.Speaks = s
	return &on
}

// Info implements [lb.Impl].
func (l *Lock) Info() lb.Info {
	info := l.Description.info()
	info.Expect = l.Expect
	return info
}

// Versions are those of the libraries that it is made of, by name.
func (l *Lock) Versions() map[string]string { return l.Description.Versions }

// Described is a lock that is a program, and says what it is.
type Described interface {
	// Conformance is what the suite must know of the lock.
	Conformance() Description
}

// Conformance implements [Described].
func (l *Lock) Conformance() Description { return l.Description }

// Open implements [lb.Impl]: it starts the program, which then opens its session. How long
// the start takes is not the lock's matter, and ctx does not end it.
func (l *Lock) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c := &client{env: env, info: l.Info()}
	c.serve(ctx, lb.Request{})
	c.stop()
	var addrs []string
	for i, server := range env.Servers {
		place := i + 1
		if len(env.Servers) == 1 {
			place = 0
		}
		g, err := newGate(server, l.Speaks, place, c)
		if err != nil {
			c.shut()
			return nil, err
		}
		c.gates, addrs = append(c.gates, g), append(addrs, g.addr())
	}
	var err error
	if c.process, err = newProcess(l.Command, os.Stderr, c.hear); err != nil {
		c.shut()
		return nil, err
	}
	var m message
	if m, err = c.askWithin(context.WithoutCancel(ctx), startBound, message{Do: doDescribe}); err == nil {
		err = l.same(c.process, m)
	}
	if err == nil {
		if m, err = c.ask(ctx, message{Do: doOpen, Client: env.Client, Servers: addrs, TTL: env.TTL}, nil); err == nil && m.Say != sayOK {
			err = c.failed(ctx, "open", m)
		}
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	if l.Description.Validates {
		return lb.Again(validator{c}), nil
	}
	return lb.Again(c), nil
}

// validator is a client whose program is asked whether a lock is held.
type validator struct{ *client }

// Valid implements [lb.Validator].
func (c validator) Valid(ctx context.Context, req lb.Request) (bool, error) {
	m, err := c.call(ctx, doValid, req, nil)
	if err == nil && m.Say == sayUnknown {
		err = c.failed(ctx, "valid", m)
	}
	return err == nil && m.Say == sayOK, err
}

// same refuses a program that is not the one that was planned with.
func (l *Lock) same(p *process, m message) error {
	if now, err := Parse(m.whole); l.Description.Name != "" && (err != nil || now.Name != l.Description.Name || now.Takes != l.Description.Takes) {
		f := p.finding("describes itself in another way than before: as %q, which takes the lock by %q", now.Name, now.Takes)
		p.blame(f)
		return f
	}
	return nil
}

// client is one session: a process, and the gates to its servers.
type client struct {
	*process
	env    *lb.Env
	info   lb.Info
	gates  []*gate
	serves atomic.Pointer[service]
	held   lb.Held[*lb.Lease]
	recent recent
}

// service is the call that requests are for.
type service struct {
	ctx  context.Context
	req  lb.Request
	over bool // requests now are for what it has left, such as a lease
}

func (c *client) serve(ctx context.Context, req lb.Request) {
	c.recent.add(req.Owner)
	c.serves.Store(&service{ctx: context.WithoutCancel(ctx), req: req})
}

func (c *client) stop() {
	s := *c.serves.Load()
	s.over = true
	c.serves.Store(&s)
}

// Acquire implements [lb.Client]. Whose lock does not wait asks again.
func (c *client) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Try && c.info.NoTry || req.Shared && !c.info.Traits.Shared {
		return nil, lb.ErrUnsupported
	}
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) { return c.once(ctx, req) })
}

func (c *client) once(ctx context.Context, req lb.Request) (lease *lb.Lease, err error) {
	call := c.env.Clock.Mono()
	m, err := c.call(ctx, doAcquire, req, func(m message) {
		if m.Say == sayOK {
			lease = c.env.Grant(req, m.Token, lb.Reading(m.Until))
			c.held.Put(req.Owner, lease)
		}
	})
	switch {
	case err != nil:
		return nil, err
	case m.Say == sayHeld:
		return nil, lb.ErrHeld
	case m.Say == sayUnsupported:
		return nil, lb.ErrUnsupported
	case m.Say != sayOK:
		return nil, c.failed(ctx, "acquire", m)
	case m.Until != 0 && !c.sensible(m.Until, call):
		f := c.finding("answered acquire with until_ns %d, which is not within %v to come (%s): is it CLOCK_MONOTONIC, in ns?",
			m.Until, c.env.TTL, c.now())
		c.blame(f)
		return nil, f
	}
	return lease, nil
}

// sensible is an end of a lease that was asked for at call: not over before, and no later than
// a lease and a second from now. A program that does not follow a clock that was moved reads
// the machine's, which is for the fault to find out.
func (c *client) sensible(until int64, call lb.Reading) bool {
	now, machine := c.env.Clock.Mono(), lb.Reading(clock.Now())
	return lb.Reading(until) >= min(call, machine.Add(-now.Sub(call))) && lb.Reading(until) <= max(now, machine).Add(c.env.TTL+time.Second)
}

func (c *client) now() string { return fmt.Sprintf("it is %d", c.env.Clock.Mono()) }

// call asks for an acquisition. Requests that go out meanwhile are for it.
func (c *client) call(ctx context.Context, do string, req lb.Request, heard func(message)) (m message, err error) {
	c.serve(ctx, req)
	defer c.stop()
	ask := func(ctx context.Context) error {
		m, err = c.ask(ctx, message{Do: do, Lock: asText(req.Lock), Owner: req.Owner, Try: req.Try, Shared: req.Shared}, heard)
		return nil
	}
	if do == doAcquire && c.info.Traits.Push && !req.Try {
		_ = c.env.Wait(ctx, req, "answer", ask)
	} else {
		_ = ask(ctx)
	}
	return m, err
}

// asText is a lock's name as JSON can have it: bytes that are no UTF-8 come in hex, and so does
// what could be taken for them.
func asText(name string) string {
	const bytes = lb.Prefix + ":bytes:"
	if utf8.ValidString(name) && !strings.HasPrefix(name, bytes) {
		return name
	}
	return bytes + hex.EncodeToString([]byte(name))
}

// Release implements [lb.Client].
func (c *client) Release(ctx context.Context, req lb.Request) error {
	m, err := c.call(ctx, doRelease, req, nil)
	if err != nil {
		return err
	}
	switch m.Say {
	case sayOK, sayLost, sayReleased:
		c.held.Drop(req.Owner)
	}
	switch m.Say {
	case sayOK:
		return nil
	case sayLost:
		return because(lb.ErrLost, m)
	case sayReleased:
		return because(lb.ErrReleased, m)
	}
	return c.failed(ctx, "release", m)
}

// failed is the error of an answer that no-effect or unknown is.
func (c *client) failed(ctx context.Context, what string, m message) error {
	err := fmt.Errorf("%s: %s", what, m.Say)
	if m.Say == sayNoEffect {
		err = lb.ErrNoEffect
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return because(err, m)
}

func because(err error, m message) error {
	if m.Why == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, m.Why)
}

// hear takes what the program says by itself.
func (c *client) hear(m message) {
	if m.Say == saySession {
		c.env.Session(m.Name)
		return
	}
	if !c.recent.has(m.Owner) {
		c.blame(c.finding("said %s of the owner %q, for whom it was not asked", m.Say, m.Owner))
		return
	}
	if m.Say == sayStep {
		go c.step(m)
		return
	}
	lease, ok := c.held.Get(m.Owner)
	switch {
	case !ok: // it has just been given back
	case m.Say == sayLost:
		lease.Lose(m.Why)
	case !c.sensible(m.Until, lb.Reading(m.Call)) || lb.Reading(m.Call) > c.env.Clock.Mono():
		c.blame(c.finding("said renewed with call_ns %d and until_ns %d (%s): are they CLOCK_MONOTONIC, in ns?", m.Call, m.Until, c.now()))
	default:
		lease.Extend(lb.Reading(m.Call), lb.Reading(m.Until))
	}
}

// step lets the program go on when the bench does.
func (c *client) step(m message) {
	s := c.serves.Load()
	req := s.req
	req.Owner = m.Owner
	_ = c.env.Step(s.ctx, req, m.Name)
	c.send(message{N: m.N, Do: doGo})
}

// Close implements [lb.Client].
func (c *client) Close() error {
	c.close()
	c.shut()
	var f *Finding
	if errors.As(c.why(), &f) {
		return f
	}
	return nil
}

func (c *client) shut() {
	for _, g := range c.gates {
		g.close()
	}
}
