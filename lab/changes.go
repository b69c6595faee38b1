package lab

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoCount is a server that does not count its changes.
var ErrNoCount = errors.New("the server does not count its changes")

// Count is what servers say of all that was done to them.
type Count struct {
	// Changes stays the same under requests that only read, and under no other that changes what a later
	// one is answered.
	Changes uint64
	// Told stays the same as long as nobody is told anything that is no change, as who listens to a channel is,
	// and nobody begins to listen.
	Told uint64
	// Whole: a request under which all stays the same has done nothing that any other client can tell. It
	// is not so where one may hear of more than this, as who waits for a key does.
	Whole bool
}

// Counting asks one server for its count, and is closed in the end.
type Counting struct {
	Ask   func(context.Context) (Count, error)
	Close func()
}

// Counter asks all servers of a service for their counts together.
type Counter []Counting

// Counter is none where a server does not count its changes: then it is [ErrNoCount].
func (s *Service) Counter() (all Counter, err error) {
	for _, server := range s.Servers {
		if server.kind.Counts == nil {
			all.Close()
			return nil, ErrNoCount
		}
		c, err := server.kind.Counts(server.Endpoint())
		if err != nil {
			all.Close()
			return nil, fmt.Errorf("%s: count its changes: %w", server.Name(), err)
		}
		all = append(all, c)
	}
	return all, nil
}

// Ask is the count of now.
func (all Counter) Ask(ctx context.Context) (sum Count, err error) {
	sum.Whole = true
	for _, c := range all {
		n, err := c.Ask(ctx)
		if err != nil {
			return Count{}, fmt.Errorf("count a server's changes: %w", err)
		}
		sum.Changes, sum.Told, sum.Whole = sum.Changes+n.Changes, sum.Told+n.Told, sum.Whole && n.Whole
	}
	return sum, nil
}

// Close ends the connections.
func (all Counter) Close() {
	for _, c := range all {
		c.Close()
	}
}
