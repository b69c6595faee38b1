// Package conformance puts a lock to the conformance suite, in a lab: what the tests of this module do with
// its own locks.
package conformance

import (
	"context"
	"errors"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/conform"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/inlab"
)

// Plan says what is tried, and where.
type Plan struct {
	Algorithm string        `json:"algorithm"`
	Exec      *history.Exec `json:"exec,omitempty"` // nil for a lock of the list
	Topology  string        `json:"topology"`
	Lab       string        `json:"lab"`
	// Jobs is how many checks are done at a time.
	Jobs int `json:"jobs"`
}

// Result is what came of one check.
type Result struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	// Error is how the claim was found to be false, Deviates the declared reason for that,
	// and Note what was measured.
	Error    string `json:"error,omitempty"`
	Deviates string `json:"deviates,omitempty"`
	Note     string `json:"note,omitempty"`
}

// Execute puts a lock to the suite in a lab, and tells of each check as it ends.
func Execute(ctx context.Context, c catalog.Catalog, p Plan, tell func(Result)) error {
	driver, err := c.Lab(p.Lab, "")
	if err != nil {
		return err
	}
	return inlab.Send(ctx, driver, "conforms", p, tell)
}

// Perform is the suite that dir's plan describes, inside the lab.
func Perform(ctx context.Context, dir string, c catalog.Catalog) error {
	p, e, err := inlab.Receive[Plan, Result](dir)
	if err == nil {
		c, err = c.With(p.Exec)
	}
	if err != nil {
		return err
	}
	impl, err := c.Lock(p.Algorithm)
	if err != nil {
		return err
	}
	topology, service, end, err := inlab.Service(ctx, c, p.Lab, p.Topology, dir, false)
	if err != nil {
		return err
	}
	o := conform.Options{Servers: service.Endpoints(), Speaks: topology.Kind.Speaks}
	if of, ok := impl.(foreign.Described); ok {
		d := of.Conformance()
		o.Deviates, o.Rare, o.Patience = d.Deviates, d.Rare, patience
		if d.RoundTrips != nil {
			o.RoundTrips = conform.RoundTrips{Acquire: d.RoundTrips.Acquire, Release: d.RoundTrips.Release}
		}
	}
	conform.All(ctx, impl, o, p.Jobs, func(r conform.Result) {
		if ctx.Err() == nil { // else it says nothing of the lock
			e.Tell(result(r))
		}
	})
	return errors.Join(ctx.Err(), e.Close(), end())
}

// patience is how much longer than a lock in Go a program may take: it waits for its process to
// start, and some wait in it for their turn.
const patience = 2

func result(r conform.Result) Result {
	one := Result{Check: r.Check, OK: r.OK(), Deviates: r.Deviates, Note: r.Note}
	if r.Err != nil {
		one.Error = r.Err.Error()
	}
	return one
}
