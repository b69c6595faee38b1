// Package faults holds what goes wrong, as data and one method each. A fault knows
// where it strikes and proves what it did; the stage records every act and undoes it,
// and the runner owns how long it lasts.
package faults

import (
	"context"
	"errors"
	"fmt"
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
	// Family is what it strikes, and Also what else it strikes or can't do without while it
	// does; the clients that it stops at a step need no mention. Faults that have one of these
	// in common are never in force together.
	Family Family
	Also   []Family
	// Trouble is what kind of trouble that is, "" for one that only some locks or services have.
	Trouble history.Trouble
	// Doc says in one line what happens.
	Doc string
	// Needs say where it can strike.
	Needs []Need
	// Prefers, if it is not nil, says where it had better strike, if it can strike there: among
	// several servers, where a lock goes wrong only there.
	Prefers Need
	// At is the step at which it strikes a client, as far as it strikes one: the name
	// of a step, of a request for the moment before it is sent, or one of the constants
	// below.
	At string
	// Lasts is how long it is in force.
	Lasts Length
	// Takes is how much longer than others it may take to make it happen.
	Takes time.Duration
	// Drags: what it does to anybody is how long it lasts, so that a moment of it proves nothing.
	Drags bool
	// MinTTL is the shortest lease with which it makes sense, because what happens in it
	// takes its time. A plan without a TTL of its own follows it.
	MinTTL time.Duration
	// StartsAhead is by how many leases the wall clock of the first worker's host is ahead of
	// the machine's before its clients open their sessions; behind, if it is negative.
	StartsAhead float64
	// SharedSession: all clients of a worker process use one session from the beginning.
	SharedSession bool
	// Hears: it listens to what clients and servers say to each other.
	Hears bool
	// Durable: the servers wait for their disks before they confirm anything, and these
	// can stall.
	Durable bool
	// Repeats: it strikes again and again until the end of the run.
	Repeats bool
	// Mix are the faults that it consists of: drawn by the seed if it repeats, and else one
	// after the other; none for most, which have an Inject of their own.
	Mix []Fault
	// Borne: of its mix only those strike under which the algorithm is not declared to be
	// anything worse than CHECK.
	Borne bool
	// Inject makes it happen. It may first wait for a moment of the run: the error
	// [ErrNobody] says that it did not come, and every other that the bench has failed.
	// A nil Proof says that there is nothing to prove. It ends with ctx: one that goes on
	// fails its run.
	Inject func(ctx context.Context, on Strike) (Proof, error)
}

// Troubles are the fault's own, and those of what it consists of. Of a mix that is drawn until the
// end of the run nobody knows before which of them come.
func (f Fault) Troubles() (all []history.Trouble) {
	if f.Repeats {
		return nil
	}
	if f.Trouble != "" {
		all = append(all, f.Trouble)
	}
	for _, one := range f.Mix {
		all = append(all, one.Troubles()...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Family is what a fault strikes.
type Family = history.Family

// The families of single faults.
const (
	Nothing = history.Nothing
	Clients = history.Clients
	Network = history.Network
	Clocks  = history.Clocks
	Servers = history.Servers
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
	if err := s.Lab.Serves(s.Topology); err != nil {
		return err
	}
	if _, ok := s.command(f); ok {
		return AService(s)
	}
	if f.Family == Servers && f.Mix == nil {
		if err := s.Lab.Can(lab.Strike); err != nil {
			return err
		}
	}
	for _, need := range f.Needs {
		if err := need(s); err != nil {
			return err
		}
	}
	if f.At != "" {
		return knows(s, f.Step(s))
	}
	for _, one := range f.Mix {
		if err := one.Available(s); err == nil && f.Repeats && f.bears(s, one) {
			return nil
		} else if err != nil && !f.Repeats {
			return fmt.Errorf("%s: %w", one.Name, err)
		}
	}
	if f.Mix != nil && f.Repeats {
		return errors.New("none of its faults can strike here")
	}
	return nil
}

// Claims are what is left of a lock's claims under the fault.
func (f Fault) Claims(t lb.Traits) lb.Traits {
	t.Fair = t.Fair && !f.SharedSession // nobody stands in line who asks again and again
	return t
}

// StallsDisks reports whether the servers need disks that can stall.
func (f Fault) StallsDisks() bool {
	return f.Durable || slices.ContainsFunc(f.Mix, Fault.StallsDisks)
}

// Overhears reports whether it must be heard what clients and servers say, from the beginning.
func (f Fault) Overhears() bool {
	return f.Hears || slices.ContainsFunc(f.Mix, Fault.Overhears)
}

// Possible are the faults of its mix that can strike there with leases of ttl, or with longer
// ones if there are no others.
func (f Fault) Possible(s Setting, ttl time.Duration) (all []Fault) {
	var long []Fault
	for _, one := range f.Mix {
		switch {
		case one.Available(s) != nil || !f.bears(s, one):
		case one.MinTTL > ttl:
			long = append(long, one)
		default:
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return long
	}
	return all
}

// bears reports whether one of its mix may strike there, by what the algorithm declares.
func (f Fault) bears(s Setting, one Fault) bool {
	e := s.Algorithm.Expected(one.Name)
	return !f.Borne || e == nil || !slices.ContainsFunc(e.Outcomes, func(o lb.Outcome) bool { return o != lb.Safe && o != lb.Check })
}

// Clashes reports whether the two must not be in force together.
func (f Fault) Clashes(o Fault) bool {
	theirs := o.strikes()
	return slices.ContainsFunc(f.strikes(), func(one Family) bool { return slices.Contains(theirs, one) })
}

// strikes are the families of all that it strikes.
func (f Fault) strikes() []Family {
	all := append([]Family{f.Family}, f.Also...)
	if f.At != "" {
		all = append(all, Clients)
	}
	return all
}
