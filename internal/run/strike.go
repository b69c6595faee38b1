package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/workloads"
)

// strike is one strike of a fault on the stage. What it does is its own, and undone with it,
// whatever else is in force.
type strike struct {
	*stage
	fault faults.Fault
	rand  *rand.Rand
	acts
}

var _ faults.Stage = (*strike)(nil)

// begin makes the nth strike of the run, from 0. What it draws depends on the seed and on that
// number only, whatever else is in force.
func (s *stage) begin(f faults.Fault, nth uint64) *strike {
	return &strike{stage: s, fault: f, rand: rand.New(rand.NewPCG(s.plan.Seed, nth)), acts: acts{down: map[string]bool{}}}
}

// Rand implements [faults.Stage].
func (s *strike) Rand() *rand.Rand { return s.rand }

// phases are those of a fault in words.
var phases = map[string]string{history.PhaseStrike: "strikes", history.PhaseHeal: "is healed", history.PhaseHealed: "is over"}

// told records a phase of the fault, at an instant or, if it is 0, now.
func (s *strike) told(at lb.Instant, phase string, p history.Proof) {
	s.tell(strings.TrimSuffix(s.fault.Name+" "+phases[phase]+": "+p.Measured, ": "))
	s.record(history.Event{At: at, Kind: history.KindFault, Name: s.fault.Name, Phase: phase, Proven: p.Proven, Note: p.Measured})
}

// do injects the fault, waits, heals it, and waits until the lock is granted
// again. That nobody came by to be struck, perhaps after a part of it was done, is part of
// the history; every other error is a failure of the bench, and says nothing of the lock.
func (s *strike) do(ctx context.Context) (struck bool, err error) {
	f := s.fault
	injecting, cancel := context.WithTimeout(ctx, injectBound+s.plan.TTL+s.patience+f.Takes)
	defer cancel()
	proof, err := within(injecting, "its injection", func(ctx context.Context) (faults.Proof, error) {
		return f.Inject(ctx, faults.Strike{Stage: s, Fault: f})
	})
	lasts := f.Lasts.Of(s.plan.TTL)
	if err == nil && proof != nil {
		err = sleep(ctx, s.rest(lasts))
	}
	nobody := errors.Is(err, faults.ErrNobody) && ctx.Err() == nil
	if !s.begun {
		if nobody {
			s.told(0, history.PhaseHealed, history.Proof{Measured: "it did not strike: " + err.Error()})
			return false, nil
		}
		return false, s.failed(ctx, err)
	}
	s.told(0, history.PhaseHeal, history.Proof{})
	healing, cancel := context.WithTimeout(context.WithoutCancel(ctx), healBound+s.plan.TTL+s.patience+s.comeBack())
	defer cancel()
	held := s.held()
	e := s.unwind(healing, err == nil && lasts > s.plan.TTL)
	if e == nil {
		e = healing.Err() // what can't be told to hurry may have taken too long
	}
	if err == nil {
		err = s.late(held, lasts)
		nobody = err != nil && s.atOnce() > 1 // another fault may have slowed it down
	}
	if e != nil {
		err, nobody = errors.Join(err, fmt.Errorf("heal: %w", e)), false
	}
	var proven history.Proof
	if err == nil {
		proven, err = within(healing, "its proof", func(context.Context) (history.Proof, error) { return proof(), nil })
	}
	if err != nil {
		proven = history.Proof{Measured: "it went half way: " + err.Error()}
	}
	s.told(0, history.PhaseHealed, proven)
	if err != nil && !nobody {
		return true, s.failed(ctx, err)
	}
	s.awaitGrants(ctx)
	return true, nil
}

// rest is how much of the fault's length is left. A holder that is to go on within its
// lease has been stopped since before the injection was done.
func (s *strike) rest(lasts time.Duration) time.Duration {
	rest := lasts
	for _, v := range s.held() {
		if lasts < s.plan.TTL {
			rest = min(rest, lasts-clock.Now().Sub(v.at))
		}
	}
	return max(0, rest)
}

// TooBusy is in the error of a run that failed since the machine had no time for what the run was to do, and
// that says nothing of the lock: another run may. It is text, since it comes out of a process.
const TooBusy = "the machine is too busy"

// late says whom the bench has let go so late, on a busy machine, that the fault was
// another: a holder that should have gone on within its lease.
func (s *strike) late(held []*caught, lasts time.Duration) error {
	for _, v := range held {
		if lasts < s.plan.TTL && v.stopped > (lasts+s.plan.TTL)/2 {
			return fmt.Errorf(TooBusy+": %s was to go on after %v, and did after %v", v.client, lasts, v.stopped.Round(time.Millisecond))
		}
	}
	return nil
}

// failed says which fault failed, unless nobody wants the run any more.
func (s *strike) failed(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("the fault %s failed: %w", s.fault.Name, err)
}

// within is what the fault's own code returns, as long as it heeds ctx. Left behind is
// what does not: nobody can end it, and it must not hang the run.
func within[T any](ctx context.Context, what string, code func(context.Context) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	back := make(chan answer, 1)
	go func() {
		v, err := code(ctx)
		back <- answer{v, err}
	}()
	select {
	case a := <-back:
		return a.v, a.err
	case <-ctx.Done():
	}
	select {
	case a := <-back:
		return a.v, a.err
	case <-time.After(endBound):
		var none T
		return none, fmt.Errorf("%s goes on %v after its time was over: it must end with its context", what, endBound)
	}
}

// awaitGrants returns when clients have got the lock a few times, and those that the
// fault had stopped once more, or after the bound: it is for the checkers to say what that
// means. A client that was late may still wait for an answer, and what it makes of that
// is the point of the fault.
func (s *strike) awaitGrants(ctx context.Context) {
	const few = 12
	ctx, cancel := context.WithTimeout(ctx, recoveryBound(s.plan.TTL))
	defer cancel()
	for range few {
		if s.Passed(ctx, workloads.StepBegun, nil, nil) != nil {
			return
		}
	}
	ctx, cancel = context.WithTimeout(ctx, 3*s.plan.TTL)
	defer cancel()
	for _, v := range s.victims {
		if v.worker.alive() && v.worker.passed(ctx, workloads.StepBegun, v.client) != nil {
			return
		}
	}
}
