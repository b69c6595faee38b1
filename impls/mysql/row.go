package mysql

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
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

// rowRequests are those of a row's taking and giving.
var rowRequests = []string{"insert", "sweep", "delete"}

// try inserts the row. Only if one is in the way does it look whether that has
// expired.
func (r row) try(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := r.insert(ctx, req)
	if !errors.Is(err, lb.ErrHeld) {
		return lease, err
	}
	swept, err := r.Exec(ctx, req, "sweep", "DELETE FROM "+r.table+" WHERE name = ? AND expires < "+now, []byte(req.Lock))
	if err != nil {
		err = refusal("sweep an expired row", err)
		if !errors.Is(err, lb.ErrHeld) {
			err = lb.NoEffect(err) // it took nothing, whatever it did
		}
		return nil, err
	}
	if swept.Rows == 0 {
		return nil, lb.ErrHeld
	}
	return r.insert(ctx, req)
}

func (r row) insert(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	made, err := r.Exec(ctx, req, "insert", "INSERT INTO "+r.table+" (name, owner, expires) VALUES (?, ?, "+later+")",
		[]byte(req.Lock), []byte(req.Owner), r.Env.TTL.Microseconds())
	if err != nil {
		return nil, refusal("INSERT", err)
	}
	return r.Env.Grant(req, 0, r.Env.Validity(made.Sent)), nil
}

// give deletes the owner's row.
func (r row) give(ctx context.Context, req lb.Request, owner string) error {
	return database.Released(r.Insist(ctx, req, "delete", "DELETE FROM "+r.table+" WHERE name = ? AND owner = ?", []byte(req.Lock), []byte(owner)))
}
