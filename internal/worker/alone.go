package worker

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/workloads"
)

// Alone is a client without a worker's process: who has it says when it does what, and may see
// and stop each of its moves. What it does is what a worker's client does.
type Alone struct{ c *client }

// Setting is what such a client needs.
type Setting struct {
	Impl     lb.Impl
	Workload workloads.Workload
	// Env is the client's, without its Probe.
	Env lb.Env
	// Store is the address of the protected store.
	Store  string
	Record func(history.Event)
	// Blame is told what a program did that no lock can mean.
	Blame func(*foreign.Finding)
	// Begins is passed before each call of the lock, [CallAcquire] or [CallRelease], and before that is
	// recorded; with an error the client does not call.
	Begins func(ctx context.Context, call string) error
	// Watch puts a probe around the client's own, which records and must be told all.
	Watch func(lb.Probe) lb.Probe
}

// NewAlone opens the client's session. Its process is called as its client is.
func NewAlone(ctx context.Context, s Setting) (*Alone, error) {
	own := &probe{client: s.Env.Client, record: s.Record, asks: asks(s.Impl.Info()), work: s.Workload.Info().Steps}
	c := &client{name: s.Env.Client, worker: s.Env.Client, impl: s.Impl, record: s.Record, blame: s.Blame, begins: s.Begins, probe: own, env: &s.Env}
	s.Env.Probe = s.Watch(own)
	if err := c.open(ctx, s.Workload, workloads.Bench{Store: s.Store}); err != nil {
		c.close()
		return nil, err
	}
	return &Alone{c}, nil
}

// Once does one task of the workload.
func (a *Alone) Once(ctx context.Context) { a.c.once(ctx) }

// On begins a history: from now on the name of the lock begins so, the first call says again
// which process the client lives in, and returns say again which requests it sends.
func (a *Alone) On(prefix string) {
	a.c.prefix, a.c.worker = prefix, a.c.name
	a.c.probe.forget()
}

// Sessions are those that the client was told of, the newest last.
func (a *Alone) Sessions() []string { return a.c.probe.told().Sessions }

// Close ends the session.
func (a *Alone) Close() { a.c.close() }
