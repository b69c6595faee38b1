package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

// performed is an order that was performed again, move by move.
type performed struct {
	events history.Events
	result checker.Result
	then   []Move // what came after the moves, before time passed
	marks  []int  // how many events there were before each of the moves, and after the last
}

// perform performs a schedule, with clients that have done nothing before. Answers that no move
// hears are heard at once.
func (x *exploration) perform(ctx context.Context, moves []Move, later bool) (*performed, error) {
	x.allowed = faults(moves)
	x.drain()
	o, err := x.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer o.End()
	var marks []int
	for _, m := range moves {
		if err := o.hear(ctx, m); err != nil {
			return nil, err
		}
		marks = append(marks, o.recorded())
		if enabled := o.Enabled(); !slices.Contains(enabled, m) {
			o.Await(ctx, func(enabled []Move) bool { return slices.Contains(enabled, m) })
			if enabled = o.Enabled(); !slices.Contains(enabled, m) {
				return nil, fmt.Errorf("%w: %s can't come next, of %v", errAstray, m, enabled)
			}
		}
		if err := o.Do(ctx, m); err != nil {
			return nil, err
		}
	}
	if later {
		marks = append(marks, o.recorded())
		if err := o.after(ctx); err != nil {
			return nil, err
		}
	} else if err := o.hear(ctx, Move{}); err != nil {
		return nil, err
	}
	events := o.ended()
	if !later {
		marks = append(marks, len(events))
	}
	res, err := judge(ctx, x.history(moves), x.work, events)
	if err != nil {
		return nil, err
	}
	return &performed{events, res, o.then, marks}, nil
}

// recorded is how many events there are.
func (o *order) recorded() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.events)
}

// hear lets everybody hear what he has not, unless that is the move that comes.
func (o *order) hear(ctx context.Context, comes Move) error {
	for {
		enabled := o.Enabled()
		first := slices.IndexFunc(enabled, func(m Move) bool { return m.Do == Hears })
		if first < 0 || slices.Contains(enabled, comes) {
			return nil
		}
		if err := o.Do(ctx, enabled[first]); err != nil {
			return err
		}
	}
}

// again performs a schedule until it goes as planned.
func (x *exploration) again(ctx context.Context, s Schedule) (p *performed, err error) {
	for range tries {
		if p, err = x.perform(ctx, s.Moves, s.Later); !errors.Is(err, errAstray) || errors.Is(err, errUnjudged) {
			break
		}
	}
	return p, err
}

// replay performs the plan's schedule as often as it says, and counts what comes of it.
func (x *exploration) replay(ctx context.Context) error {
	x.result.Replays = map[lb.Outcome]int{}
	for n := range max(1, x.plan.Times) {
		p, err := x.again(ctx, *x.plan.Replay)
		switch {
		case errors.Is(err, errAstray) && ctx.Err() == nil:
			x.result.Doubts = []string{err.Error()}
			x.result.Replays[lb.Inconclusive]++
		case err != nil:
			return err
		default:
			x.result.Replays[p.result.Outcome]++
			if all := x.result.Violations; len(all) == 0 || rundir.Breaks(p.result.Outcome) && !rundir.Breaks(all[0].Outcome) {
				x.result.Violations = []Violation{x.violation(*x.plan.Replay, p)}
			}
		}
		x.tell(Progress{Faults: faults(x.plan.Replay.Moves), Orders: n + 1, Share: float64(n+1) / float64(max(1, x.plan.Times))})
	}
	return nil
}

func (x *exploration) violation(s Schedule, p *performed) Violation {
	return Violation{Schedule: s, ExploredOrder: rundir.ExploredOrder{Class: classOf(s.Moves), Outcome: p.result.Outcome, Mechanism: p.result.Mechanism, Reason: p.result.Reason}, Events: p.events, Result: &p.result, Marks: p.marks}
}
