package explore

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/lab"
)

// held holds what a lock says of its requests against what the server counts: orders are left out because
// a request only reads, so that one which changes something would hide orders.
type held struct {
	changes func(context.Context) (uint64, error) // nil where no server counts
	seen    map[string]int                        // by request: how often it was looked at
	row     map[string]int                        // how often in a row something had changed
}

const (
	mostLooks  = 40 // at a request: each takes a connection
	mostInARow = 5  // changes: one by itself may be a key that ended just then
)

// request has do send one request while nobody else does anything.
func (h *held) request(ctx context.Context, name string, do func() error) error {
	if h.changes == nil || h.seen[name] >= mostLooks {
		return do()
	}
	if h.seen == nil {
		h.seen, h.row = map[string]int{}, map[string]int{}
	}
	before, err := h.changes(ctx)
	if errors.Is(err, lab.ErrNoCount) {
		h.changes = nil
		return do()
	}
	if err := errors.Join(err, do()); err != nil {
		return err
	}
	after, err := h.changes(ctx)
	h.seen[name]++
	if h.row[name]++; before == after {
		h.row[name] = 0
	}
	if err == nil && h.row[name] >= mostInARow {
		err = fmt.Errorf("explore: the lock says that its %s only reads (Info.Reads), and each time the server counted a change", name)
	}
	return err
}
