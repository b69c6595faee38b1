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
)

// Store is the protected store: for every lock a counter, kept in three copies
// that differ only in the care of those who write them. It listens on a host of
// its own and records every access in the order in which it served them: the
// ground truth of a run.
//
// plain takes every write. checked takes every write, too, but writers offer one
// only when their own look at the lease says that they still hold the lock.
// fenced refuses what carries a lower token than the highest it has seen,
// reads included: a write is stale from the moment that a later holder has read.
type Store struct {
	record func(history.Event)

	mu        sync.Mutex
	seq       uint64
	registers map[string]*register
}

type register struct {
	plain, checked, fenced int64
	highest                uint64 // token seen
}

// NewStore makes an empty store that records to record.
func NewStore(record func(history.Event)) *Store {
	return &Store{record: record, registers: map[string]*register{}}
}

// access is one request to the store: a line of JSON each way.
type access struct {
	Write  bool   `json:"write"`
	Client string `json:"client"`
	Lock   string `json:"lock"`
	ID     string `json:"id"`
	Token  uint64 `json:"token"`
	// Base is what the writer had read, and Held its own look at its lease.
	Base values `json:"base"`
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
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("workloads: store: %w", err)
		}
		go s.serveOne(c)
	}
}

func (s *Store) serveOne(c net.Conn) {
	defer c.Close()
	in, out := json.NewDecoder(bufio.NewReader(c)), json.NewEncoder(c)
	for {
		var a access
		if in.Decode(&a) != nil || out.Encode(s.serve(a)) != nil {
			return // the client is gone; what it did is recorded
		}
	}
}

// serve does one access to all copies at once and returns what they held before.
func (s *Store) serve(a access) values {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.registers[a.Lock]
	if r == nil {
		r = &register{}
		s.registers[a.Lock] = r
	}
	before := values{r.plain, r.checked, r.fenced}
	effects := history.CopyEffects{Plain: history.CopyEffect{Value: r.plain}, Checked: history.CopyEffect{Value: r.checked}}
	fresh := a.Token >= r.highest
	if a.Token != 0 {
		effects.Fenced = &history.CopyEffect{Value: r.fenced}
		if !fresh {
			effects.Fenced.Result = history.Refused
		}
		r.highest = max(r.highest, a.Token)
	}
	kind := history.KindRead
	if a.Write {
		kind = history.KindWrite
		write(&r.plain, &effects.Plain, a.Base.Plain, history.Landed)
		write(&r.checked, &effects.Checked, a.Base.Checked, when(a.Held, history.Skipped))
		if effects.Fenced != nil {
			write(&r.fenced, effects.Fenced, a.Base.Fenced, when(fresh, history.Refused))
		}
	}
	s.seq++
	s.record(history.Event{At: clock.Now(), Kind: kind, Seq: s.seq, Client: a.Client, Lock: a.Lock, ID: a.ID, Token: a.Token, Copies: &effects})
	return before
}

func when(ok bool, otherwise history.Decision) history.Decision {
	if ok {
		return history.Landed
	}
	return otherwise
}

// write adds one to what the writer had read, if the write lands.
func write(copy *int64, effect *history.CopyEffect, base int64, result history.Decision) {
	effect.Base, effect.Result = base, result
	if result == history.Landed {
		effect.New = base + 1
		*copy = base + 1
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
		return nil, fmt.Errorf("workloads: connect to the store: %w", err)
	}
	return &storeClient{c, json.NewDecoder(bufio.NewReader(c)), json.NewEncoder(c)}, nil
}

func (c *storeClient) do(a access) (v values, err error) {
	if err = errors.Join(c.out.Encode(a), c.in.Decode(&v)); err != nil {
		err = fmt.Errorf("workloads: ask the store: %w", err)
	}
	return v, err
}

func (c *storeClient) Close() error { return c.conn.Close() }
