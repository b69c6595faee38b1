package faults

import (
	"context"

	lb "github.com/lockbench/lockbench"
)

// PauseHolder freezes the process of a client that holds the lock and is at
// work, for longer than the lease: what a stop-the-world collection, a laptop's
// lid or a live migration does.
type PauseHolder struct{}

func (PauseHolder) Name() string { return "pause-holder" }
func (PauseHolder) Doc() string {
	return "SIGSTOP the process of a holder at work, until after its lease"
}
func (PauseHolder) Available(s lb.Setting) error { return knows(s, whileHolding) }
func (PauseHolder) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return freeze(ctx, on, whileHolding)
}

// PauseClient freezes the process of a client that is about to ask for the lock:
// nobody who waits may keep the others from it for longer than a lease.
type PauseClient struct{}

func (PauseClient) Name() string { return "pause-client" }
func (PauseClient) Doc() string {
	return "SIGSTOP the process of a client that is about to ask for the lock, for longer than a lease"
}
func (PauseClient) Available(s lb.Setting) error { return asks(s) }
func (PauseClient) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return freeze(ctx, on, on.Setting().Algorithm.Steps[0])
}

const pauseAt = "pause-at:"

// PauseAt freezes the process of a client that has just come to a step of its
// algorithm or workload.
type PauseAt struct{ Step string }

func (f PauseAt) Name() string { return pauseAt + f.Step }
func (f PauseAt) Doc() string {
	return "SIGSTOP the process of a client at step " + f.Step + ", until after its lease"
}
func (f PauseAt) Available(s lb.Setting) error { return knows(s, f.Step) }
func (f PauseAt) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return freeze(ctx, on, f.Step)
}
