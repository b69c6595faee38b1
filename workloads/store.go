package workloads

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/workloads/guard"
)

// Store is the protected store: for every lock a number, kept in three copies that
// differ only in the care of those who write them. It listens on a host of its own and
// records every access in the order in which it served them: the ground truth of a run.
//
// plain takes every write. checked takes every write, too, but writers offer one
// only when their own look at the lease says that they still hold the lock.
// fenced refuses what carries a lower token than the highest it has seen,
// reads included: a write is stale from the moment that a later holder has read.
// Shared holders may come in any order among themselves.
type Store struct {
	record func(history.Event)
	guard  guard.Guard // nil for none

	mu        sync.Mutex
	seq       uint64
	registers map[string]*register
}

type register struct {
	plain, checked, fenced number
	seen, wrote            uint64 // the highest token of all, and of those that were exclusive
}

// number is one copy.
type number struct {
	value int64
	taken map[int64]bool // what was written once
}

// NewStore makes an empty store that records to record.
func NewStore(record func(history.Event)) *Store {
	return &Store{record: record, registers: map[string]*register{}}
}

// access is one request to the store: a line of JSON each way. All its parts are served
// at once, as in one transaction: each copy takes all of them or none.
type access struct {
	Kind   accessKind `json:"kind"`
	Client string     `json:"client"`
	Parts  []part     `json:"parts"`
	// Once makes what is written an idempotency key: each copy takes it once.
	Once bool `json:"once,omitempty"`
	// Same: a copy takes what is written only while it holds what the writer had read there.
	Same bool `json:"same,omitempty"`
}

type accessKind string

const (
	reads    accessKind = "read"
	confirms accessKind = "confirm" // reads again, and relies on what it had read before
	writes   accessKind = "write"
)

// part is what an access does under one lock.
type part struct {
	Lock   string `json:"lock"`
	ID     string `json:"id"`
	Token  uint64 `json:"token"`
	Shared bool   `json:"shared,omitempty"`
	// First is what the copies hold that nobody has used yet.
	First int64 `json:"first,omitempty"`
	// Base is what the client had read, New what it writes, and Held its own look at its
	// lease.
	Base values `json:"base"`
	New  values `json:"new"`
	Held bool   `json:"held"`
}

// values are the three copies.
type values struct {
	Plain   int64 `json:"plain"`
	Checked int64 `json:"checked"`
	Fenced  int64 `json:"fenced"`
}

// Serve answers clients until ctx ends.
func (s *Store) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	go clock.Gaps(ctx, s.silent)
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("store: %w", err)
		}
		go s.serveOne(ctx, c)
	}
}

// reply is what the copies held before, or why nothing was done.
type reply struct {
	Before []values `json:"before,omitempty"`
	Error  string   `json:"error,omitempty"`
}

func (s *Store) serveOne(ctx context.Context, c net.Conn) {
	defer c.Close()
	in, out := json.NewDecoder(bufio.NewReader(c)), json.NewEncoder(c)
	for {
		var a access
		if in.Decode(&a) != nil {
			return // the client is gone; what it did is recorded
		}
		var r reply
		var err error
		if r.Before, err = s.answer(ctx, a); err != nil {
			r.Error = err.Error()
		}
		if out.Encode(r) != nil {
			return
		}
	}
}

// answer does one access to all copies at once and returns what they held before.
func (s *Store) answer(ctx context.Context, a access) (before []values, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, fresh := true, true
	for _, p := range a.Parts {
		r := s.register(p)
		held, fresh = held && p.Held, fresh && r.fresh(p)
	}
	if s.guard != nil {
		if fresh, err = s.admitted(ctx, a); err != nil {
			return nil, err
		}
	}
	for _, p := range a.Parts {
		r := s.registers[p.Lock]
		before = append(before, values{r.plain.value, r.checked.value, r.fenced.value})
		s.one(a, p, r, held, fresh)
	}
	return before, nil
}

func (s *Store) register(p part) *register {
	r := s.registers[p.Lock]
	if r == nil {
		one := func() number { return number{p.First, map[int64]bool{}} }
		r = &register{plain: one(), checked: one(), fenced: one()}
		s.registers[p.Lock] = r
	}
	return r
}

// fresh reports whether no later holder has been here.
func (r *register) fresh(p part) bool {
	return p.Token >= r.seen || p.Shared && p.Token >= r.wrote || p.unfenced()
}

// unfenced: a shared holder without a token has nothing by which it could be refused.
func (p *part) unfenced() bool { return p.Shared && p.Token == 0 }

// one does one part, and records it.
func (s *Store) one(a access, p part, r *register, held, fresh bool) {
	plain, checked, fenced := effect(a, &r.plain, p.Base.Plain, p.New.Plain, history.Landed),
		effect(a, &r.checked, p.Base.Checked, p.New.Checked, when(held, history.Skipped)),
		effect(a, &r.fenced, p.Base.Fenced, p.New.Fenced, when(fresh, history.Refused))
	effects := history.CopyEffects{Plain: plain, Checked: checked}
	if p.Token != 0 || p.unfenced() && r.seen != 0 {
		effects.Fenced = &fenced
		if r.seen = max(r.seen, p.Token); !p.Shared {
			r.wrote = max(r.wrote, p.Token)
		}
	}
	kind := history.KindRead
	if a.Kind == writes {
		kind = history.KindWrite
		r.plain.take(&plain, a.Once)
		r.checked.take(&checked, a.Once)
		if effects.Fenced != nil {
			r.fenced.take(&fenced, a.Once)
		}
	}
	s.seq++
	s.record(history.Event{At: clock.Now(), Kind: kind, Seq: s.seq, Client: a.Client, Lock: p.Lock, ID: p.ID, Token: p.Token, Copies: &effects})
}

func when(ok bool, otherwise history.Decision) history.Decision {
	if ok {
		return history.Landed
	}
	return otherwise
}

// effect is what an access does to a copy, if that decides so.
func effect(a access, c *number, base, new int64, decision history.Decision) history.CopyEffect {
	e := history.CopyEffect{Value: c.value, Result: decision}
	switch {
	case a.Kind == reads:
		if decision != history.Refused {
			e.Result = history.NoDecision
		}
		return e
	case a.Kind == writes && decision == history.Landed && (a.Once && c.taken[new] || a.Same && c.value != base):
		e.Result = history.Refused
	}
	if e.Base = base; a.Kind == writes && e.Result == history.Landed {
		e.New = new
	}
	return e
}

// take writes what landed.
func (c *number) take(e *history.CopyEffect, once bool) {
	if e.Result != history.Landed {
		return
	}
	if c.value = e.New; once {
		c.taken[e.New] = true
	}
}

// storeClient is a client's connection to the store.
type storeClient struct {
	conn net.Conn
	in   *json.Decoder
	out  *json.Encoder
}

func dialStore(ctx context.Context, addr string) (*storeClient, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the store: %w", err)
	}
	return &storeClient{c, json.NewDecoder(bufio.NewReader(c)), json.NewEncoder(c)}, nil
}

func (c *storeClient) ask(a access) (before []values, err error) {
	var r reply
	if err = errors.Join(c.out.Encode(a), c.in.Decode(&r)); err == nil && r.Error != "" {
		err = errors.New(r.Error)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the store: %w", err)
	}
	return r.Before, nil
}

func (c *storeClient) Close() error { return c.conn.Close() }
