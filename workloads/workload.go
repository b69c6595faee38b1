package workloads

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	// Judge is a function of the history and its plan alone.
	Judge(ix *history.Index, plan history.Plan) checker.Layer
}

// Info describes a workload.
type Info struct {
	Name string
	Doc  string
	// Needs are the traits without which a lock has nothing to do here: Shared, or more Permits than one. What does not need
	// them is not for a semaphore: it is wrong where two are at work at once.
	Needs lb.Traits
	// Again: a holder asks for what it holds. Where the lock is not reentrant it waits for itself.
	Again bool
	// Steps are the points that sections pass, in order; every one passes StepGranted,
	// StepBegun and StepWork.
	Steps []string
	// Evidence are the layers that a verdict on a run rests on, beside those that look
	// for harm: where one of them found nothing to look at, the run proves nothing.
	Evidence []string
	// Guarded: what is done under the lock is right without it, too, and two holders at
	// once are no harm.
	Guarded bool
	// Decides: the store looks at more than the token before it takes a write, which only its memory can.
	Decides bool
	// Forgets: some holds are never given back. Only a lease that nobody renews ends then.
	Forgets bool
	// Sparse: clients meet too seldom for a known hazard to show in every run.
	Sparse bool
	// Nested: holders wait for another lock. A lease that nobody renews may end meanwhile,
	// where somebody died or was stopped who holds the other.
	Nested bool
	// GivesUp: clients go away before they are granted what they ask for, and a pause
	// behind that is no polling.
	GivesUp bool
	// Leases is how many a run must last at least to show anything, besides two seconds.
	Leases int
	// Long: holders work for long now and then, where the plan says so ([Bench.Long]).
	Long bool
	// Expect says what is to be expected under a fault because of the work, and not of the
	// lock. It takes the place of what the lock declares, save that a lock which gets stuck
	// does so whatever is done under it.
	Expect []lb.Expectation
}

// Available says why the lock has nothing to do here, or nil.
func (i Info) Available(lock lb.Info) error {
	if i.Needs.Shared && !lock.Traits.Shared {
		return fmt.Errorf("the workload %s needs a shared mode, and %s has none", i.Name, lock.Name)
	}
	switch several := lock.Traits.Semaphore(); {
	case several && !i.Needs.Semaphore():
		return fmt.Errorf("the work of %s is for one at a time, and %d may hold %s at once", i.Name, lock.Traits.AtOnce(), lock.Name)
	case !several && i.Needs.Semaphore():
		return fmt.Errorf("the workload %s needs a semaphore, and %s is a lock of one", i.Name, lock.Name)
	}
	return nil
}

// Expected is what the lock declares under the fault, or the work instead; nil where
// nothing is promised.
func (i Info) Expected(lock lb.Info, fault string) *lb.Expectation {
	declared := lock.Expected(fault)
	stuck := declared != nil && slices.Contains(declared.Outcomes, lb.Stuck)
	if own := (lb.Info{Expect: i.Expect}).Expected(fault); own != nil && !stuck {
		return own
	}
	if misuse := i.misuse(lock, fault); misuse != nil {
		return misuse
	}
	if declared == nil {
		return nil
	}
	safe := slices.Contains(declared.Outcomes, lb.Safe)
	switch {
	case i.Sparse && !safe:
		return orElse(*declared, lb.Safe, "clients meet too seldom for it to show in every run")
	case i.Forgets && lock.Outlasts() && !slices.Contains(declared.Outcomes, lb.Stuck):
		return orElse(*declared, lb.Stuck, "a lock that lasts as long as its holder's process stays taken when it is forgotten")
	case i.Nested && safe && fault != "none" && lock.Traits.Leased && !lock.Traits.Renewing:
		return orElse(*declared, lb.Check, "a lease may end while its holder waits for another lock")
	}
	return declared
}

// misuse is what comes of a use without any fault that the lock is not made for, or nil.
func (i Info) misuse(lock lb.Info, fault string) *lb.Expectation {
	calm := lock.Expected("none")
	if calm == nil || !slices.Contains(calm.Outcomes, lb.Safe) {
		return nil // it is none, or breaks as it is
	}
	const claim = "the algorithm's own claim"
	switch {
	case i.Again && !lock.Traits.Reentrant:
		return &lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Stuck, lb.Broken},
			Why: "the lock is not reentrant: whoever asks for what it holds waits for itself", Source: claim}
	case i.Forgets && lock.Outlasts() && fault == "none":
		return &lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Stuck}, Reason: lb.Ghost,
			Why: "the lock lasts as long as its holder's process, and stays taken when it is forgotten", Source: claim}
	case i.Forgets && lock.Traits.Reentrant && fault == "none":
		return &lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Stuck, lb.Safe},
			Why: "whoever has forgotten the lock may enter it again, and each time its lease begins again", Source: claim}
	}
	return nil
}

// orElse is an expectation of which another outcome is as good.
func orElse(e lb.Expectation, may lb.Outcome, why string) *lb.Expectation {
	if !slices.Contains(e.Outcomes, may) {
		e.Outcomes = append(slices.Clip(e.Outcomes), may)
	}
	e.Reason, e.Why = "", strings.TrimPrefix(e.Why+"; "+why, "; ")
	return &e
}

// AtLeast is how long a run must last at least.
func (i Info) AtLeast(ttl time.Duration) time.Duration {
	if i.Leases == 0 {
		return 0
	}
	return time.Duration(i.Leases)*ttl + 2*time.Second
}

// The steps that the holder of every workload passes: its work is about to begin, has begun, and is
// nearly done. At them lie the moments of most faults.
const (
	StepGranted = "before-read"
	StepBegun   = "after-read"
	StepWork    = "work"
)

// StepReleased is passed by every session whose lock was given back, just behind the answer.
const StepReleased = "released"

// Bench is what a client's tasks get from the bench.
type Bench struct {
	Env *lb.Env
	// Store is the address of the protected store.
	Store string
	// Long is when a holder works for long, nil for never.
	Long *Long
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
	// Valid is the look that the checked copy takes before each write: at the lease, or, where users
	// of a library ask that, by asking it.
	Valid(ctx context.Context, lease *lb.Lease) bool
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
