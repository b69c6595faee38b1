package mysql

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// later is a TTL from now on the server's clock, and now that clock: the time at
// which the server began the statement. Both are UTC, which no time zone's
// summer time sets back.
const (
	later = "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND"
	now   = "UTC_TIMESTAMP(6)"
)

// row is a lock that is a row with an owner and an expiry in a table, which has
// the columns name, owner and expires.
type row struct {
	session
	table string
}

// rowSteps are the steps of a row's taking and giving.
var rowSteps = []string{"before-insert", "after-insert", "before-sweep", "after-sweep", "before-delete", "after-delete"}

// try inserts the row. Only if one is in the way does it look whether that has
// expired.
func (r row) try(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := r.insert(ctx, req)
	if !errors.Is(err, lb.ErrHeld) {
		return lease, err
	}
	if err := r.env.Step(ctx, "before-sweep", req); err != nil {
		return nil, compose.NoEffect(err)
	}
	swept, err := r.exec(ctx, "DELETE FROM "+r.table+" WHERE name = ? AND expires < "+now, []byte(req.Lock))
	if err != nil {
		err = refusal("sweep an expired row", err)
		if !errors.Is(err, lb.ErrHeld) {
			err = compose.NoEffect(err) // it took nothing, whatever it did
		}
		return nil, err
	}
	if err := r.env.Step(ctx, "after-sweep", req); err != nil {
		return nil, compose.NoEffect(err)
	}
	if swept == 0 {
		return nil, lb.ErrHeld
	}
	return r.insert(ctx, req)
}

func (r row) insert(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if err := r.env.Step(ctx, "before-insert", req); err != nil {
		return nil, compose.NoEffect(err)
	}
	call := r.env.Clock.Mono()
	if _, err := r.exec(ctx, "INSERT INTO "+r.table+" (name, owner, expires) VALUES (?, ?, "+later+")",
		[]byte(req.Lock), []byte(req.Owner), r.env.TTL.Microseconds()); err != nil {
		return nil, refusal("INSERT", err)
	}
	if err := r.env.Step(ctx, "after-insert", req); err != nil {
		return nil, err
	}
	return r.env.Grant(req, 0, r.env.Validity(call)), nil
}

// extend gives the owner's row another TTL, unless it has expired.
func (r row) extend(ctx context.Context, lock, owner string) error {
	n, err := r.exec(ctx, "UPDATE "+r.table+" SET expires = "+later+" WHERE name = ? AND owner = ? AND expires > "+now,
		r.env.TTL.Microseconds(), []byte(lock), []byte(owner))
	switch {
	case err != nil:
		return fmt.Errorf("mysql: extend: %w", err)
	case n == 0:
		return lb.ErrLost
	}
	return nil
}

// give deletes the owner's row.
func (r row) give(ctx context.Context, req lb.Request, owner string) error {
	if err := r.env.Step(ctx, "before-delete", req); err != nil {
		return err
	}
	n, err := r.insist(ctx, "DELETE FROM "+r.table+" WHERE name = ? AND owner = ?", []byte(req.Lock), []byte(owner))
	if err := r.env.Step(ctx, "after-delete", req); err != nil {
		return err
	}
	return released(n, err)
}
