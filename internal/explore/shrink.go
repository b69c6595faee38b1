package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// mostTries bounds the orders that are performed to make one shorter, and confirmed is how often
// the shortest must show the same before it is told.
const (
	mostTries = 120
	confirmed = 3
)

// shrink makes the violations that were kept as short as can be: fewer moves, and of these fewer
// switches between clients. One that does not come again is told as what it is, a doubt, unless another
// of its kind does; then the exploration proves nothing.
func (x *exploration) shrink(ctx context.Context) error {
	var kept, came, doubted []Violation // made shorter; as they were found; of these that did not come again
	for _, v := range x.result.Violations {
		if slices.ContainsFunc(came, v.like) {
			continue
		}
		s := shortener{x: x, want: v, tries: mostTries}
		short, err := s.shortest(ctx)
		switch {
		case err == nil:
			came = append(came, v)
			x.result.shown(v)
			if !slices.ContainsFunc(kept, short.like) { // without what it took for a fault
				kept = append(kept, short)
			}
		case ctx.Err() != nil: // as it was found
			came, kept = append(came, v), append(kept, v)
			x.result.shown(v)
		case errors.Is(err, errDoubt), errors.Is(err, errAstray):
			v.Reason += "): " + err.Error()
			doubted = append(doubted, v)
		default:
			return err
		}
	}
	for _, v := range doubted {
		if !slices.ContainsFunc(came, v.like) {
			x.result.Doubts = append(x.result.Doubts, fmt.Sprintf("%s (%s", v.Outcome, v.Reason))
		}
	}
	x.result.Violations = kept
	return ctx.Err()
}

// errDoubt is an order that broke the lock once, and not again.
var errDoubt = errors.New("an order that broke the lock did not do so again")

type shortener struct {
	x     *exploration
	want  Violation
	tries int
	best  Violation
	then  []Move // what came after the moves
}

func (s *shortener) shortest(ctx context.Context) (Violation, error) {
	for n := 0; n < confirmed; n++ {
		p, err := s.x.again(ctx, s.want.Schedule)
		if err == nil && p.result.Outcome != s.want.Outcome {
			err = fmt.Errorf("it was %s, and then %s", s.want.Outcome, p.result.Outcome)
		}
		if err != nil {
			return s.want, fmt.Errorf("%w (%v): %w", errDoubt, s.want.Moves, err)
		}
		s.best, s.then = s.x.violation(s.want.Schedule, p), p.then
	}
	if len(s.x.plan.Until) > 0 {
		return s.best, nil
	}
	if err := s.spellOut(ctx); err != nil {
		return s.best, err
	}
	if err := s.prefix(ctx); err != nil {
		return s.best, err
	}
	for smaller := true; smaller && s.tries > 0; {
		var err error
		if smaller, err = s.step(ctx); err != nil {
			return s.best, err
		}
	}
	for range confirmed {
		p, err := s.x.again(ctx, s.best.Schedule)
		if err != nil || p.result.Outcome != s.best.Outcome || p.result.Mechanism != s.best.Mechanism {
			return s.want, fmt.Errorf("%w, made shorter (%v): %w", errDoubt, s.best.Moves, cmp.Or(err, errAstray))
		}
	}
	return s.best, nil
}

// spellOut has the moves tell all, where what came after them broke the lock: of one that nobody can
// have any more only time tells.
func (s *shortener) spellOut(ctx context.Context) error {
	if !s.best.Later || s.want.Outcome == lb.Stuck {
		return nil
	}
	for _, moves := range [][]Move{s.best.Moves, append(slices.Clone(s.best.Moves), s.then...)} {
		s.best.Later = false
		if ok, err := s.try(ctx, moves); ok || err != nil {
			return err
		}
		s.best.Later = true
	}
	return nil
}

// prefix finds the shortest begin that breaks the lock already.
func (s *shortener) prefix(ctx context.Context) error {
	whole := s.best.Moves
	for n := 2; n < len(whole); n++ {
		if faults(whole[:n]) < faults(whole) {
			continue
		}
		if ok, err := s.try(ctx, whole[:n]); ok || err != nil {
			return err
		}
	}
	return nil
}

// step makes the best shorter by some moves in a row, or by a switch.
func (s *shortener) step(ctx context.Context) (bool, error) {
	moves := s.best.Moves
	for _, width := range []int{4, 2, 1} {
		for i := len(moves) - width; i >= 0; i-- {
			if ok, err := s.try(ctx, slices.Delete(slices.Clone(moves), i, i+width)); ok || err != nil {
				return ok, err
			}
		}
	}
	for i := range moves {
		for j := i + 1; j < len(moves); j++ {
			other := slices.Clone(moves)
			m := other[j]
			other = slices.Insert(slices.Delete(other, j, j+1), i, m)
			if switches(other) < switches(moves) {
				if ok, err := s.try(ctx, other); ok || err != nil {
					return ok, err
				}
			}
		}
	}
	return false, nil
}

// try takes the moves if they break the lock in the same way.
func (s *shortener) try(ctx context.Context, moves []Move) (bool, error) {
	if s.tries--; s.tries < 0 {
		return false, nil
	}
	schedule := s.best.Schedule
	schedule.Moves = slices.Clone(moves)
	p, err := s.x.perform(ctx, moves, schedule.Later)
	switch {
	case errors.Is(err, errAstray):
		return false, nil
	case err != nil:
		return false, err
	}
	got := s.x.violation(schedule, p)
	if got.Outcome != s.want.Outcome {
		return false, nil
	}
	s.best = got
	return true, nil
}
