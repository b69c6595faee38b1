// Package none is the lock that is none: the control that every checker must
// convict. A bench that finds nothing wrong with it is blind.
package none

import (
	"context"

	lb "github.com/lockbench/lockbench"
)

// New returns the algorithm.
func New() lb.Impl { return impl{} }

type impl struct{}

func (impl) Info() lb.Info {
	return lb.Info{
		Name:       "none",
		Doc:        "grants at once, to everybody",
		Source:     "the control of the experiment",
		Topologies: []string{"none"},
		Expect: []lb.Expectation{{
			Fault: "*", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "there is no lock", Source: "the control of the experiment",
		}},
	}
}

func (impl) Open(_ context.Context, env *lb.Env) (lb.Client, error) { return client{env}, nil }

type client struct{ env *lb.Env }

func (c client) Acquire(_ context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Grant(req, 0, 0), nil
}
func (client) Release(context.Context, lb.Request) error { return nil }
func (client) Close() error                              { return nil }
