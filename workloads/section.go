package workloads

import (
	"context"
	"errors"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

// stepBeforeWrite is the moment that no client can guard: it has looked at its lease
// and is about to write. At [StepWork] the lease has not been looked at yet.
const stepBeforeWrite = "before-write"

// The work takes a random time in [minWork, minWork+workSpread).
const (
	minWork    = 5 * time.Millisecond
	workSpread = 10 * time.Millisecond
)

// sectionSteps are what every section passes that writes.
var sectionSteps = []string{StepGranted, StepBegun, StepWork, stepBeforeWrite}

// kit is what the tasks of this package do their work with.
type kit struct {
	env *lb.Env
	*storeClient
}

// open makes a client's task, with a connection to the store.
func open(ctx context.Context, b Bench, task func(kit) Task) (Task, error) {
	c, err := dialStore(ctx, b.Store)
	if err != nil {
		return nil, err
	}
	return task(kit{b.Env, c}), nil
}

// under takes the locks in their order, does the work and gives them back in the
// opposite one. The work is not cut short by the end of the run, only the next one is
// not begun: half a section would look like a lost update.
func under(ctx context.Context, s Session, work func(context.Context, []*lb.Lease) error, asks ...Ask) (err error) {
	var held []*lb.Lease
	for _, ask := range asks {
		var lease *lb.Lease
		if lease, err = s.Acquire(ctx, ask); err != nil {
			break
		}
		held = append(held, lease)
	}
	if err == nil {
		err = work(context.WithoutCancel(ctx), held)
	}
	for i := len(held) - 1; i >= 0; i-- {
		if notReleased := s.Release(ctx, held[i]); err == nil {
			err = notReleased
		}
	}
	return err
}

// section is the critical one: read, work, look at the lease, write. It reads one
// number under each of its locks.
type section struct {
	session Session
	leases  []*lb.Lease
	// change is what it makes of what it has read of one copy, nil to leave it; a section
	// without change reads again instead of writing, and relies on what it has read.
	change func(read []int64) (written []int64)
	// first, once and same are those of the store.
	first      int64
	once, same bool
	// last is the step before the second access.
	last string
	// long is how long it works, 0 for a moment; what is left of that is dropped when over is closed.
	long time.Duration
	over <-chan struct{}
}

// plus is the change that adds n under the one lock.
func plus(n int64) func([]int64) []int64 {
	return func(read []int64) []int64 { return []int64{read[0] + n} }
}

// errStale says that the store took no write, since what it holds is not what was read.
var errStale = errors.New("what was read has been changed")

// do does the section. Who is caught in it is caught with its last lock.
func (k kit) do(ctx context.Context, s section) error {
	req := s.leases[len(s.leases)-1].Request
	a := access{Kind: reads, Client: k.env.Client, Once: s.once, Same: s.same}
	for _, l := range s.leases {
		a.Parts = append(a.Parts, part{Lock: l.Request.Lock, ID: l.Request.Owner, Token: l.Token, Shared: l.Request.Shared, First: s.first})
	}
	if err := k.env.Step(ctx, req, StepGranted); err != nil {
		return err
	}
	read, err := k.ask(a)
	if err != nil {
		return err
	}
	if err := k.env.Step(ctx, req, StepBegun); err != nil {
		return err
	}
	if err := k.work(ctx, req, s); err != nil {
		return err
	}
	written, changed := read, false
	if s.change != nil {
		if written, changed = s.changes(read); !changed {
			return nil
		}
	}
	for i, l := range s.leases {
		a.Parts[i].Base, a.Parts[i].Held = read[i], s.session.Valid(ctx, l)
	}
	if err := k.env.Step(ctx, req, s.last); err != nil {
		return err
	}
	a.Kind = confirms
	if changed {
		a.Kind = writes
		for i := range a.Parts {
			a.Parts[i].New = written[i]
		}
	}
	held, err := k.ask(a)
	if err == nil && s.same && held[0].Plain != a.Parts[0].Base.Plain {
		err = errStale
	}
	return err
}

// changes is what the section makes of the three copies under each lock, and whether it
// makes anything of any.
func (s section) changes(read []values) (written []values, changed bool) {
	written = slices.Clone(read)
	for _, copy := range copies {
		var one []int64
		for i := range read {
			one = append(one, *copy(&read[i]))
		}
		for i, v := range s.change(one) {
			*copy(&written[i]), changed = v, true
		}
	}
	return written, changed
}

// adds is the section that reads a counter and writes it back plus one.
func (k kit) adds(s Session) func(context.Context, []*lb.Lease) error {
	return func(ctx context.Context, held []*lb.Lease) error {
		return k.do(ctx, section{session: s, leases: held, change: plus(1), last: stepBeforeWrite})
	}
}

// work takes a moment and comes to the step at its end. Long work is one such moment after the other,
// so that a fault finds a holder at work; whoever was stopped there has worked enough, and acts at once.
func (k kit) work(ctx context.Context, req lb.Request, s section) error {
	const stopped = 50 * time.Millisecond
	for until := clock.Now().Add(s.long); ; {
		moment := minWork + time.Duration(k.env.Rand.Int64N(int64(workSpread)))
		if err := k.env.Clock.Sleep(ctx, moment); err != nil {
			return err
		}
		at := clock.Now()
		if err := k.env.Step(ctx, req, StepWork); err != nil {
			return err
		}
		if now := clock.Now(); now >= until || now.Sub(at) > stopped {
			return nil
		}
		select {
		case <-s.over:
			return nil
		default:
		}
	}
}

// copies are the three of a value.
var copies = []func(*values) *int64{
	func(v *values) *int64 { return &v.Plain },
	func(v *values) *int64 { return &v.Checked },
	func(v *values) *int64 { return &v.Fenced },
}
