package faults

import (
	"context"

	lb "github.com/lockbench/lockbench"
)

// KillHolder kills the process of a client that holds the lock and is at work.
type KillHolder struct{}

func (KillHolder) Name() string                 { return "kill-holder" }
func (KillHolder) Doc() string                  { return "SIGKILL the process of a holder at work" }
func (KillHolder) Available(s lb.Setting) error { return knows(s, whileHolding) }
func (KillHolder) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return kill(ctx, on, whileHolding)
}

const crashAt = "crash-at:"

// CrashAt kills the process of a client that has just come to a step of its
// algorithm or workload.
type CrashAt struct{ Step string }

func (f CrashAt) Name() string                 { return crashAt + f.Step }
func (f CrashAt) Doc() string                  { return "SIGKILL the process of a client at step " + f.Step }
func (f CrashAt) Available(s lb.Setting) error { return knows(s, f.Step) }
func (f CrashAt) Inject(ctx context.Context, on lb.Stage) (lb.Heal, error) {
	return kill(ctx, on, f.Step)
}
