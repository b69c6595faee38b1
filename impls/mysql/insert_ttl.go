package mysql

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

//go:embed insert_ttl.sql
var insertTTLTable string

// InsertTTL is [Insert] with the remedies that the surveys give for its defects:
// an expiry that is swept, an owner that may take the lock again, and waiting in
// place of failing:
//
//	INSERT INTO locks (name, owner, expires) VALUES (lock, owner, now + ttl)
//	    a duplicate key: DELETE … WHERE name = lock AND expires < now, and again
//	UPDATE … SET expires = now + ttl WHERE … owner = owner AND expires > now
//	    the holder takes it once more
//	DELETE FROM locks WHERE name = lock AND owner = owner
//
// Time is the server's alone. Source: surveys of locks on databases.
func InsertTTL() lb.Impl {
	return algorithm(lb.Info{
		Name:       "mysql-insert-ttl",
		Doc:        "mysql-insert with an owner, who may take it again, and an expiry by the server's clock",
		Source:     "the remedies that surveys give for the lock by a unique key",
		Topologies: topologies,
		Requests:   slices.Concat(rowRequests, []string{"extend"}),
		ByTheBook:  true,
		Takes:      "insert",
		Tables:     true,
		Traits:     lb.Traits{Leased: true, Reentrant: true},
		Expect: compose.Except(manual.OnDisk(compose.Lease()), lb.Expectation{
			Fault: "shared-session", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "a thread of the same session re-enters the row that the other holds", Source: "the protocol"}),
	}, []string{insertTTLTable}, func(_ context.Context, s session) (lb.Client, error) {
		return &insertTTL{row: row{s, "lockbench_insert_ttl"}}, nil
	})
}

type insertTTL struct {
	row
	entries lb.Held[*entry] // by the owner
	rows    lb.Held[*entry] // by the lock
}

// entry is one row, which belongs to the acquisition that inserted it, and the
// number of acquisitions that use it. They are counted here and not in the row:
// then an answer that is lost can't spoil the count.
type entry struct {
	owner string
	uses  int
}

func (c *insertTTL) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.Env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		if e, ok := c.rows.Get(req.Lock); ok {
			lease, err := c.again(ctx, req, e)
			if !errors.Is(err, lb.ErrLost) {
				return lease, err
			}
			c.rows.Drop(req.Lock) // it had expired
		}
		lease, err := c.try(ctx, req)
		if err == nil {
			e := &entry{owner: req.Owner, uses: 1}
			c.entries.Put(req.Owner, e)
			c.rows.Put(req.Lock, e)
		}
		return lease, err
	})
}

// again takes a lock once more that this client holds: it gives the row another TTL,
// unless it has expired.
func (c *insertTTL) again(ctx context.Context, req lb.Request, e *entry) (*lb.Lease, error) {
	extended, err := c.Exec(ctx, req, "extend",
		"UPDATE "+c.table+" SET expires = "+later+" WHERE name = ? AND owner = ? AND expires > "+now,
		c.Env.TTL.Microseconds(), []byte(req.Lock), []byte(e.owner))
	switch {
	case err != nil:
		return nil, lb.NoEffect(fmt.Errorf("mysql: extend: %w", err)) // at most the row lives longer
	case extended.Rows == 0:
		return nil, lb.ErrLost
	}
	e.uses++
	c.entries.Put(req.Owner, e)
	return c.Env.Grant(req, 0, c.Env.Validity(extended.Sent)), nil
}

// Release deletes the row when nobody uses it any more. What is not known here
// is an INSERT whose answer was lost; its row would be this owner's.
func (c *insertTTL) Release(ctx context.Context, req lb.Request) error {
	e, ok := c.entries.Get(req.Owner)
	if !ok {
		return c.give(ctx, req, req.Owner)
	}
	if e.uses > 1 {
		e.uses--
		c.entries.Drop(req.Owner)
		return nil
	}
	err := c.give(ctx, req, e.owner)
	if lb.AnswerOf(err) == lb.AnswerUnknown {
		return err
	}
	c.entries.Drop(req.Owner)
	if current, ok := c.rows.Get(req.Lock); ok && current == e {
		c.rows.Drop(req.Lock)
	}
	return err
}
