// Package faults holds what goes wrong, as data and one method each. A fault knows
// where it strikes and proves what it did; the stage records every act and undoes it,
// and the runner owns how long it lasts.
package faults

import (
	"context"
	"errors"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

// Fault is one thing that goes wrong in a run.
type Fault struct {
	// Name is the column's name: "pause-holder", or as [Find] reads it.
	Name string
	// Family is what it strikes, for lists of faults.
	Family Family
	// Doc says in one line what happens.
	Doc string
	// Needs say where it can strike.
	Needs []Need
	// At is the step at which it strikes a client, as far as it strikes one: the name
	// of a step, of a request for the moment before it is sent, or one of the constants
	// below.
	At string
	// Lasts is how long it is in force.
	Lasts Length
	// MinTTL is the shortest lease with which it makes sense, because what happens in it
	// takes its time. A plan without a TTL of its own follows it.
	MinTTL time.Duration
	// Repeats: it strikes again and again until the end of the run.
	Repeats bool
	// Mix are the faults of which each strike is one, drawn by the seed; none for
	// most, which have an Inject of their own.
	Mix []Fault
	// Inject makes it happen. It may first wait for a moment of the run: the error
	// [ErrNobody] says that it did not come, and every other that the bench has failed.
	// A nil Proof says that there is nothing to prove. It ends with ctx: one that goes on
	// fails its run.
	Inject func(ctx context.Context, on Strike) (Proof, error)
}

// Family is what a fault strikes.
type Family string

// The families.
const (
	Nothing Family = "nothing"
	Clients Family = "clients"
	Network Family = "network"
	Clocks  Family = "clocks"
	Servers Family = "servers"
)

// Where a fault strikes whose step depends on the algorithm.
const (
	AtFirst = "first request"         // a client is about to ask for the lock
	AtTakes = "request for the grant" // it is about to send what makes it the holder
)

// ErrNobody: no client came to the step in time, so that nothing happened.
var ErrNobody = errors.New("nobody came by")

// Proof tells, after everything is undone, what the fault did, in the terms of the
// lock. A run whose fault did not take effect proves nothing.
type Proof func() history.Proof

// Length is how long a fault lasts: some leases, or a time. The zero Length is
// [DefaultLength].
type Length struct {
	TTLs float64
	Time time.Duration
}

// DefaultLength is long enough for a lease to end on the server, who may look for
// ended leases only twice a second, and for others to take the lock.
var DefaultLength = Length{TTLs: 2.5}

// Of is the length with leases of ttl.
func (l Length) Of(ttl time.Duration) time.Duration {
	if l == (Length{}) {
		l = DefaultLength
	}
	return time.Duration(l.TTLs*float64(ttl)) + l.Time
}

// Setting is where a fault would strike.
type Setting struct {
	Lab       lab.Driver
	Topology  lab.Topology
	Algorithm lb.Info
	Workload  workloads.Info
}

// Step is the step at which the fault strikes a client there, "" for none.
func (f Fault) Step(s Setting) string {
	at := f.At
	switch {
	case at == AtFirst && len(s.Algorithm.Requests) > 0:
		at = s.Algorithm.Requests[0]
	case at == AtTakes:
		at = s.Algorithm.Takes
	}
	if slices.Contains(s.Algorithm.Requests, at) {
		return lb.Before(at)
	}
	return at
}

// Available says why the fault can't strike in this setting, or nil.
func (f Fault) Available(s Setting) error {
	for _, need := range f.Needs {
		if err := need(s); err != nil {
			return err
		}
	}
	if f.At != "" {
		return knows(s, f.Step(s))
	}
	if f.Mix != nil && len(f.Possible(s)) == 0 {
		return errors.New("none of its faults can strike here")
	}
	return nil
}

// Possible are the faults of its mix that can strike there.
func (f Fault) Possible(s Setting) (all []Fault) {
	for _, one := range f.Mix {
		if one.Available(s) == nil {
			all = append(all, one)
		}
	}
	return all
}
