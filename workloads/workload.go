package workloads

import (
	"context"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// Workload is what clients do with locks.
type Workload interface {
	Info() Info
	// Open prepares one client's tasks.
	Open(ctx context.Context, b Bench) (Task, error)
}

// Judge is a workload with a judgement of its own, in its own words: a layer beside
// those of the checkers.
type Judge interface {
	Workload
	Judge(ix *history.Index) checker.Layer
}

// Info describes a workload.
type Info struct {
	Name string
	Doc  string
	// Steps are the points that every section passes, in order; StepBegun and StepWork
	// are among them.
	Steps []string
	// Evidence are the layers that a verdict on a run rests on, beside those that look
	// for harm: where one of them found nothing to look at, the run proves nothing.
	Evidence []string
}

// The steps that the holder of every workload passes: its work has begun, and is
// nearly done. At them lie the moments of most faults.
const (
	StepBegun = "after-read"
	StepWork  = "work"
)

// Bench is what a client's tasks get from the bench.
type Bench struct {
	Env *lb.Env
	// Store is the address of the protected store.
	Store string
}

// Task is one client's work.
type Task interface {
	// Run is one iteration: it takes locks, works, and gives them back. What goes
	// wrong with the locks it returns as it is ([Session] says how); any other error is
	// one of the work, and a run in which the work failed proves nothing.
	Run(ctx context.Context, s Session) error
	Close() error
}

// Session is one client of the lock service; what is done with it is recorded. Every
// error of its methods is a [*LockError].
type Session interface {
	Acquire(ctx context.Context, ask Ask) (*lb.Lease, error)
	Release(ctx context.Context, lease *lb.Lease) error
}

// Ask is what a task wants. The zero Ask is the run's one lock, exclusively, for as
// long as it takes.
type Ask struct {
	Lock        string
	Shared, Try bool
}

// DefaultLock is the lock that an [Ask] without a name is for.
const DefaultLock = "lock"

// LockError is an error of the lock, not of the work.
type LockError struct{ Err error }

func (e *LockError) Error() string { return e.Err.Error() }
func (e *LockError) Unwrap() error { return e.Err }
