package explore

import (
	"context"
	"fmt"

	"github.com/lockbench/lockbench/lab"
)

// held holds requests against what the servers count. Orders are left out because a lock says that a request
// only reads, so that one which changes something would hide orders; and because a request has changed
// nothing, whatever it is.
type held struct {
	counter lab.Counter    // nil where no server counts
	seen    map[string]int // by request that is said to read: how often it was looked at
	row     map[string]int // how often in a row something had changed
}

const (
	mostLooks  = 40 // at a request that is said to read
	mostInARow = 5  // changes: one by itself may be somebody else's
)

// request has do send one request while nobody else does anything, and reports whether it has done nothing
// that any other client can tell, and whether anybody could say.
func (h *held) request(ctx context.Context, do func() error) (nothing, counted bool, err error) {
	if h.counter == nil {
		return false, false, do()
	}
	before, err := h.ask(ctx)
	if err != nil {
		return false, false, err
	}
	if err := do(); err != nil || !before.Whole {
		return false, false, err
	}
	after, err := h.ask(ctx)
	return before == after, err == nil, err
}

// ask is the servers' count. One that does not say it in time spoils an order, and no more.
func (h *held) ask(ctx context.Context) (lab.Count, error) {
	n, err := h.counter.Ask(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %w", errAstray, err)
	}
	return n, err
}

// read is request, for one of which the lock says that it only reads.
func (h *held) read(ctx context.Context, name string, do func() error) error {
	if h.counter == nil || h.seen[name] >= mostLooks {
		return do()
	}
	if h.seen == nil {
		h.seen, h.row = map[string]int{}, map[string]int{}
	}
	before, err := h.ask(ctx)
	if err == nil {
		err = do()
	}
	if err != nil {
		return err
	}
	after, err := h.ask(ctx)
	h.seen[name]++
	if h.row[name]++; before.Changes == after.Changes {
		h.row[name] = 0
	}
	if err == nil && h.row[name] >= mostInARow {
		err = fmt.Errorf("the lock says that its %s only reads (Info.Reads), and each time the server counted a change", name)
	}
	return err
}
