package faults

import (
	"context"
	"time"
)

// ServerActs are what happens to the process of a server.
type ServerActs interface {
	// Kill ends a server, which comes back with its disk.
	Kill(ctx context.Context, server Node) error
	// ShutDown ends a server as its supervisor does, which lets it finish; it comes back
	// with its disk.
	ShutDown(ctx context.Context, server Node) error
	// Restart starts a server again that was killed or shut down, with what its disk holds or, if
	// empty, with nothing. It returns at once; back waits until the server answers, and
	// says how long it was away.
	Restart(ctx context.Context, server Node, empty bool) (back func(context.Context) (time.Duration, error))
	// Freeze stops a server where it is.
	Freeze(ctx context.Context, server Node) error
	// Throttle lets a server run for that share of the time only, above 0 and below 1, ten
	// times a second.
	Throttle(ctx context.Context, server Node, share float64) (*Throttled, error)
}

// Throttled is a server that ran for a part of the time: which part, and of how long, as
// those measured who stopped it.
type Throttled struct {
	Share func() float64
	For   func() time.Duration
}
