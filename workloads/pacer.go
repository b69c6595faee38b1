package workloads

import (
	"context"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Pacer says when a client's next iteration starts.
type Pacer interface {
	// Await returns when it is time, or ctx's error.
	Await(ctx context.Context) error
}

// Restless starts the next iteration after a random moment of up to Pause, so that
// the last holder does not always win.
type Restless struct {
	Env   *lb.Env
	Pause time.Duration
}

// Await implements [Pacer].
func (r Restless) Await(ctx context.Context) error {
	return r.Env.Clock.Sleep(ctx, time.Duration(r.Env.Rand.Int64N(int64(r.Pause))))
}
