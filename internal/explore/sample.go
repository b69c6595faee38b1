package explore

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"

	"github.com/lockbench/lockbench/internal/rundir"
)

// random performs one order that is drawn, and tells of it.
func (x *exploration) random(ctx context.Context, draw *lanes, told func(*order, []Move) error) (moves []Move, err error) {
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
		m := draw.next(enabled)
		if err := o.Do(ctx, m); err != nil {
			return moves, err
		}
		moves = append(moves, m)
	}
}

// depths are of what drawn orders look for by turns: how many moves it takes that come each before a certain other.
var depths = []int{2, 3}

// sample performs orders that are drawn, for what is left of the budget, and keeps those that are
// new.
func (x *exploration) sample(ctx context.Context, level *rundir.ExploredLevel) error {
	from := rand.New(rand.NewPCG(x.plan.Seed, 1<<32))
	most := 0 // lanes
	defer func() {
		level.Shown = map[int]float64{}
		for _, d := range depths {
			level.Shown[d] = shown(d, level.Drawn/len(depths), most, x.longest)
		}
	}()
	for x.left > x.above && ctx.Err() == nil && !x.lost() {
		draw := newLanes(from, depths[level.Drawn%len(depths)], x.longest)
		_, err := x.random(ctx, draw, func(o *order, moves []Move) error {
			x.left--
			level.Drawn++
			x.longest, most = max(x.longest, len(moves)), max(most, len(draw.priority))
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
