package explore

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
)

// random performs one order, each of whose moves is drawn from those that may come, and tells of
// it. It has as many faults as are allowed, where there was an occasion.
func (x *exploration) random(ctx context.Context, from *rand.Rand, told func(*order, []Move) error) (moves []Move, err error) {
	const odds = 6 // of a fault: one move in so many
	o, err := x.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer o.End()
	for {
		enabled := o.Enabled()
		if len(enabled) == 0 {
			return moves, told(o, moves)
		}
		var right, wrong []Move
		for _, m := range enabled {
			if m.Fault() {
				wrong = append(wrong, m)
			} else {
				right = append(right, m)
			}
		}
		these := right
		if len(right) == 0 || len(wrong) > 0 && from.IntN(odds) == 0 {
			these = wrong
		}
		m := these[from.IntN(len(these))]
		if err := o.Do(ctx, m); err != nil {
			return moves, err
		}
		moves = append(moves, m)
	}
}

// sample performs orders that are drawn, for what is left of the budget, and keeps those that are
// new.
func (x *exploration) sample(ctx context.Context, level *Level) error {
	from := rand.New(rand.NewPCG(x.plan.Seed, 1<<32))
	for x.left > x.above && ctx.Err() == nil && !x.lost() {
		_, err := x.random(ctx, from, func(o *order, moves []Move) error {
			x.left--
			if faults(moves) != level.Faults || x.seen[x.key(moves)] {
				return nil
			}
			x.left++ // take counts it
			before := level.Orders
			err := x.take(ctx, o, moves, level, level.Share)
			level.Sampled += level.Orders - before
			return err
		})
		x.strays(err)
		if errors.Is(err, errAstray) {
			level.Astray, level.Why = level.Astray+1, cmp.Or(level.Why, err.Error())
			x.left--
			continue
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
