package mysql

import (
	"context"
	_ "embed"
	"errors"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

//go:embed insert.sql
var insertTable string

// Insert is the lock that is a row with a unique key:
//
//	INSERT INTO locks (name) VALUES (lock)     a duplicate key: held, try again
//	DELETE FROM locks WHERE name = lock
//
// Nothing ends it but its holder, and nothing says whose row it is: the client
// deletes what it was told that it had inserted. Source: the surveys of locks on
// databases that present it first, with the same defects.
func Insert() lb.Impl {
	const survey = "the surveys that print the algorithm"
	return algorithm{
		info: lb.Info{
			Name:       "mysql-insert",
			Doc:        "INSERT of a unique key; DELETE to release; retry loop",
			Source:     "the database lock by a unique key, as surveys present it",
			Topologies: topologies,
			Steps:      []string{"before-insert", "after-insert", "before-delete", "after-delete"},
			Expect: compose.Except(endless(),
				lb.Expectation{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
					Why: "the row has no expiry and its owner is dead", Source: survey},
				lb.Expectation{Fault: "crash-at:after-insert", Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
					Why: "the row has no expiry and its owner is dead", Source: survey},
			),
		},
		tables: []string{insertTable},
		open:   func(s session) (lb.Client, error) { return &insert{session: s}, nil },
	}
}

type insert struct {
	session
	rows compose.Held[*lb.Lease] // nil while nobody knows whether the row is ours
}

func (c *insert) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return compose.Poll(ctx, c.env, req, func(ctx context.Context) (*lb.Lease, error) {
		if err := c.env.Step(ctx, "before-insert", req); err != nil {
			return nil, compose.NoEffect(err)
		}
		_, err := c.exec(ctx, "INSERT INTO lock_insert (name) VALUES (?)", []byte(req.Lock))
		if err != nil {
			if err = refusal("INSERT", err); lb.OutcomeOf(err) == lb.Unknown {
				c.rows.Put(req.Owner, nil)
			}
			return nil, err
		}
		lease := c.env.Grant(req, 0, 0)
		c.rows.Put(req.Owner, lease)
		if err := c.env.Step(ctx, "after-insert", req); err != nil {
			return nil, err
		}
		return lease, nil
	})
}

var errWhose = errors.New("mysql: the answer to the INSERT was lost, and the row does not say whose it is")

func (c *insert) Release(ctx context.Context, req lb.Request) error {
	lease, ok := c.rows.Get(req.Owner)
	switch {
	case !ok:
		return lb.ErrLost
	case lease == nil:
		return errWhose
	}
	if err := c.env.Step(ctx, "before-delete", req); err != nil {
		return err
	}
	n, err := c.insist(ctx, "DELETE FROM lock_insert WHERE name = ?", []byte(req.Lock))
	if err := c.env.Step(ctx, "after-delete", req); err != nil {
		return err
	}
	if err == nil {
		c.rows.Drop(req.Owner)
		if n == 0 {
			lease.Lose("the row is gone")
		}
	}
	return released(n, err)
}
