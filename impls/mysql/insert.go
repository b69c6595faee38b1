package mysql

import (
	"context"
	_ "embed"
	"errors"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
)

//go:embed insert.sql
var insertTable string

// Insert is the lock that is a row with a unique key:
//
//	INSERT INTO locks (name) VALUES (lock)     a duplicate key: held, try again
//	DELETE FROM locks WHERE name = lock AND id = the row's number
//
// Nothing ends it but its holder, and nothing says whose row it is: the client
// deletes what it was told that it had inserted. (By the number that it was told, so
// that a DELETE that is sent again can't hit the next one's row.) Source: the surveys of locks on
// databases that present it first, with the same defects.
func Insert() lb.Impl {
	const (
		survey    = "the surveys that print the algorithm"
		swallowed = "a DELETE that the cut swallows is not sent again once its connection is given up"
	)
	return algorithm(lb.Info{
		Name:       "mysql-insert",
		Doc:        "INSERT of a unique key; DELETE to release; retry loop",
		Source:     "the database lock by a unique key, as surveys present it",
		Topologies: topologies,
		Requests:   []string{"insert", "delete"},
		Takes:      "insert",
		Tables:     true,
		Expect: compose.Except(manual.Endless(), append(slices.Concat(
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
				Why: "the row has no expiry and its owner is dead", Source: survey}, "kill-holder", "kill@after-insert"),
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
				Why: "nothing says whose the row is, so that who never heard of it can't delete it", Source: survey}, "lost-grant", "late-grant", "reset-grant"),
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Stuck},
				Why: "the answer to an INSERT of its neighbour on the host may be lost, too", Source: survey}, "lose-reply", "reset-reply", "slow-reply"),
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Safe, lb.Stuck},
				Why: "the server may die between an INSERT and its answer", Source: survey}, "kill-server", "restart-server")),
			lb.Expectation{Fault: "restart-holder", Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
				Why: "who comes back does not know its own row again", Source: survey},
			lb.Expectation{Fault: "cut-rejoin", Outcomes: []lb.Outcome{lb.Safe, lb.Stuck}, Why: swallowed, Source: survey},
			lb.Expectation{Fault: "cut-halves", Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Stuck}, Why: swallowed, Source: survey})...),
	}, []string{insertTable}, func(_ context.Context, s session) (lb.Client, error) { return &insert{session: s}, nil })
}

type insert struct {
	session
	rows lb.Held[int64] // their numbers, by owner; 0 while nobody knows whether there is one
}

func (c *insert) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.Env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		made, err := c.Exec(ctx, req, "insert", "INSERT INTO lockbench_insert (name) VALUES (?)", []byte(req.Lock))
		if err != nil {
			err = refusal("INSERT", err)
		}
		if lb.AnswerOf(err) != lb.AnswerFailed {
			c.rows.Put(req.Owner, number(made))
		}
		if err != nil {
			return nil, err
		}
		return c.Env.Grant(req, 0, 0), nil
	})
}

// number is that of the row that was made, 0 where nobody knows.
func number(made sqllock.Result) int64 {
	if made.Result == nil {
		return 0
	}
	id, _ := made.LastInsertId() // the driver has it, or was not answered
	return id
}

var errWhose = errors.New("mysql: the answer to the INSERT was lost, and the row does not say whose it is")

func (c *insert) Release(ctx context.Context, req lb.Request) error {
	id, ok := c.rows.Get(req.Owner)
	switch {
	case !ok:
		return lb.ErrLost
	case id == 0:
		return errWhose
	}
	err := database.Released(c.Insist(ctx, req, "delete", "DELETE FROM lockbench_insert WHERE name = ? AND id = ?", []byte(req.Lock), id))
	if lb.AnswerOf(err) != lb.AnswerUnknown {
		c.rows.Drop(req.Owner)
	}
	return err
}
