package mysql

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

//go:embed queue.sql
var queueTable string

//go:embed queue_waiters.sql
var queueWaitersTable string

// Queue is the lock of [InsertTTL] (without its reentrancy) behind a table of all
// who wait, of whom only the first may try:
//
//	INSERT INTO waiters (name, owner, expires) VALUES (lock, owner, now + ttl)
//	SELECT owner, expires < now FROM waiters WHERE name = lock ORDER BY id LIMIT 1
//	    somebody else: look again later, and every third of a TTL
//	    UPDATE waiters SET expires = now + ttl WHERE owner = owner
//	    somebody whose place has expired: DELETE FROM waiters WHERE owner = that
//	INSERT INTO locks …                               as mysql-insert-ttl does
//	DELETE FROM waiters WHERE owner = owner
//	DELETE FROM locks WHERE name = lock AND owner = owner
//
// A waiter that dies is evicted when its place has expired by the server's clock;
// one that was only silent for so long queues up again. The order is that of a
// counter, and a server may show a row before one with a lower number. So the
// unique key of the lock's own table keeps owners apart, and the queue is trusted
// for nothing but fairness. Source: surveys of locks on databases, their remedy
// for unfairness.
func Queue() lb.Impl {
	return algorithm(lb.Info{
		Name:       "mysql-queue",
		Doc:        "a table of waiters in order, of whom the first may insert the row of mysql-insert-ttl",
		Source:     "the remedy that surveys give for the unfairness of the lock by a unique key",
		Topologies: topologies,
		Requests:   slices.Concat([]string{"enqueue", "heartbeat", "look", "evict"}, rowRequests, []string{"leave"}),
		Reads:      []string{"look"},
		Takes:      "insert",
		Tables:     true,
		Traits:     lb.Traits{Leased: true, Fair: true},
		Expect:     manual.OnDisk(compose.Lease()),
	}, []string{queueTable, queueWaitersTable}, func(_ context.Context, s session) (lb.Client, error) {
		return &queue{row: row{s, "lockbench_queue"}}, nil
	})
}

type queue struct {
	row
	seen lb.Reading // when the own place was last known to be kept
}

func (c *queue) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.wait(ctx, req)
	// Also after a grant: who holds the lock does not wait for it. A place that
	// can't be left now makes others wait until it expires, and takes nothing.
	detached, cancel := c.Env.Detached(ctx)
	defer cancel()
	_ = c.leave(detached, req)
	return lease, err
}

func (c *queue) wait(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if err := c.enqueue(ctx, req); err != nil {
		return nil, lb.NoEffect(err)
	}
	return c.Env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		if err := c.heartbeat(ctx, req); err != nil {
			return nil, lb.NoEffect(err)
		}
		first, err := c.first(ctx, req)
		switch {
		case err != nil:
			return nil, lb.NoEffect(err)
		case first != req.Owner:
			return nil, lb.ErrHeld
		}
		return c.try(ctx, req)
	})
}

// enqueue takes the last place.
func (c *queue) enqueue(ctx context.Context, req lb.Request) error {
	r, err := c.Insist(ctx, req, "enqueue", "INSERT INTO lockbench_queue_waiters (name, owner, expires) VALUES (?, ?, "+later+")",
		[]byte(req.Lock), []byte(req.Owner), c.Env.TTL.Microseconds())
	if err != nil {
		return fmt.Errorf("mysql: enqueue: %w", err)
	}
	c.seen = r.Sent
	return nil
}

// heartbeat keeps the place, every third of a TTL, or takes a new one.
func (c *queue) heartbeat(ctx context.Context, req lb.Request) error {
	if c.Env.Clock.Mono().Sub(c.seen) < c.Env.TTL/3 {
		return nil
	}
	r, err := c.Insist(ctx, req, "heartbeat", "UPDATE lockbench_queue_waiters SET expires = "+later+" WHERE owner = ?",
		c.Env.TTL.Microseconds(), []byte(req.Owner))
	switch {
	case err != nil:
		return fmt.Errorf("mysql: keep the place in the queue: %w", err)
	case r.Rows == 0:
		return c.enqueue(ctx, req)
	}
	c.seen = r.Sent
	return nil
}

// first is the owner of the first place that is alive; "" where there is none,
// because our own has been evicted.
func (c *queue) first(ctx context.Context, req lb.Request) (string, error) {
	for {
		var owner []byte
		var expired bool
		err := c.Get(ctx, req, "look", []any{&owner, &expired},
			"SELECT owner, expires < "+now+" FROM lockbench_queue_waiters WHERE name = ? ORDER BY id LIMIT 1", []byte(req.Lock))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return "", fmt.Errorf("mysql: look at the queue: %w", err)
		}
		if !expired || string(owner) == req.Owner {
			return string(owner), nil
		}
		// It goes, if it has not been kept after all.
		if _, err := c.Insist(ctx, req, "evict", "DELETE FROM lockbench_queue_waiters WHERE owner = ? AND expires < "+now, owner); err != nil {
			return "", fmt.Errorf("mysql: evict from the queue: %w", err)
		}
	}
}

// leave gives the place up.
func (c *queue) leave(ctx context.Context, req lb.Request) error {
	if _, err := c.Insist(ctx, req, "leave", "DELETE FROM lockbench_queue_waiters WHERE owner = ?", []byte(req.Owner)); err != nil {
		return fmt.Errorf("mysql: leave the queue: %w", err)
	}
	return nil
}

func (c *queue) Release(ctx context.Context, req lb.Request) error {
	return c.give(ctx, req, req.Owner)
}
