package run

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockbench/lockbench/faults"
)

// between is how long a fault that strikes again rests after one that did not.
const between = 200 * time.Millisecond

// strikes has the fault strike: once, each of a list in its order, or until it is over. As many
// are in force at a time as the plan allows; one that must not meet another waits for its end.
func (s *stage) strikes(ctx context.Context, f faults.Fault, over func() bool) (failed error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type end struct {
		name string
		err  error
	}
	var inForce []faults.Fault
	ends := make(chan end)
	await := func() {
		e := <-ends
		inForce = slices.DeleteFunc(inForce, func(f faults.Fault) bool { return f.Name == e.name })
		if failed == nil && e.err != nil {
			failed = e.err
			cancel()
		}
	}
	for _, one := range f.Mix {
		if s.atOnce() > 1 {
			s.patience = max(s.patience, one.Lasts.Of(s.plan.TTL))
		}
	}
	nth := uint64(0)
	for one := range s.order(f) {
		for len(inForce) >= s.atOnce() || slices.ContainsFunc(inForce, one.Clashes) {
			await()
		}
		if failed != nil || nth > 0 && over() {
			break
		}
		inForce = append(inForce, one)
		strike := s.begin(one, nth)
		nth++
		go func() {
			struck, err := strike.do(ctx)
			if err == nil && !struck && f.Repeats {
				err = sleep(ctx, between)
			}
			ends <- end{one.Name, err}
		}()
	}
	for len(inForce) > 0 {
		await()
	}
	return failed
}

// atOnce is how many faults may be in force at a time.
func (s *stage) atOnce() int { return max(1, s.plan.FaultsAtOnce) }

// order is that in which faults are to strike: a fault by itself once, those of a list one after
// the other, and without end what the seed draws for one that repeats, as far as may be such
// as can meet those before it. It does not depend on how long any of them takes.
func (s *stage) order(f faults.Fault) iter.Seq[faults.Fault] {
	all := []faults.Fault{f}
	switch {
	case f.Mix != nil && f.Repeats:
		all = f.Possible(s.setting, s.plan.TTL)
	case f.Mix != nil:
		all = f.Mix
	}
	if !f.Repeats {
		return slices.Values(all)
	}
	return func(yield func(faults.Fault) bool) {
		draws := rand.New(rand.NewPCG(s.plan.Seed, math.MaxUint64))
		var last []faults.Fault // as many as may still be in force
		for {
			can := slices.DeleteFunc(slices.Clone(all), func(one faults.Fault) bool { return slices.ContainsFunc(last, one.Clashes) })
			if len(can) == 0 {
				can = all
			}
			one := can[draws.IntN(len(can))]
			if !yield(one) {
				return
			}
			if last = append(last, one); len(last) >= s.atOnce() {
				last = last[1:]
			}
		}
	}
}
