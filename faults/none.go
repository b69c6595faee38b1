package faults

import (
	"context"

	lb "github.com/lockbench/lockbench"
)

// None is the run in which nothing goes wrong.
type None struct{}

func (None) Name() string               { return "none" }
func (None) Doc() string                { return "nothing goes wrong" }
func (None) Available(lb.Setting) error { return nil }

// Inject returns no heal, since there is nothing to be healed.
func (None) Inject(context.Context, lb.Stage) (lb.Heal, error) { return nil, nil }
