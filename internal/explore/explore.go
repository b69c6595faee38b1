package explore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/inlab"
	"github.com/lockbench/lockbench/internal/processes"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// Execute explores in a lab, and tells how far it is. Where ctx ends, what was walked until then is the result
// beside the error; nil if nothing was.
func Execute(ctx context.Context, c catalog.Catalog, p Plan, tell func(Progress)) (*Result, error) {
	driver, err := c.Lab(p.Lab, "")
	if err != nil {
		return nil, err
	}
	var result *Result
	err = inlab.Send(ctx, driver, "explores", p, func(t Told) {
		if t.At != nil {
			tell(*t.At)
		}
		result = cmp.Or(t.Result, result)
	})
	if err == nil && result == nil {
		err = errors.New("the exploration ended without a result")
	}
	return result, err
}

// Perform is the exploration that dir's plan describes, inside the lab.
func Perform(ctx context.Context, dir string, c catalog.Catalog) error {
	p, out, err := inlab.Receive[Plan, Told](dir)
	if err == nil {
		c, err = c.With(p.Exec)
	}
	if err != nil {
		return err
	}
	topology, service, end, err := inlab.Service(ctx, c, p.Lab, p.Topology, dir, true)
	if err != nil {
		return err
	}
	result, err := Explore(ctx, c, p, topology, service, func(at Progress) { out.Tell(Told{At: &at}) })
	if err == nil {
		out.Tell(Told{Result: result})
	}
	return errors.Join(err, out.Close(), end())
}

// Explore explores on servers that are up, whose clocks can be moved.
func Explore(ctx context.Context, c catalog.Catalog, p Plan, t lab.Topology, service *lab.Service, tell func(Progress)) (*Result, error) {
	impl, err := c.Lock(p.Algorithm)
	if err != nil {
		return nil, err
	}
	if impl.Info().Program {
		if err := processes.Adopt(); err != nil {
			return nil, err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work, err := p.work()
	if err != nil {
		return nil, err
	}
	e, err := newEngine(ctx, impl, work, p.Bounds, t, service)
	if err != nil {
		return nil, err
	}
	defer e.close()
	e.reuse = p.Reuse && impl.Info().Program
	e.rules.all, e.rules.calls = p.Unpruned >= EverySequence, p.Unpruned >= EveryCall
	x := &exploration{engine: e, plan: p, tell: tell, result: newResult(p), began: time.Now()}
	err = x.all(ctx)
	x.result.Performed = x.n
	x.result.Seconds = time.Since(x.began).Seconds()
	x.result.Timeless = e.timeless
	if !p.Ways {
		x.result.Worst = nil
	}
	switch {
	case e.wrong != nil:
		return nil, e.wrong
	case ctx.Err() != nil && x.result.Orders() > 0:
		x.result.Interrupted = true // and what was walked until then is told
		return x.result, nil
	}
	return x.result, err
}

// all does what the plan asks for.
func (x *exploration) all(ctx context.Context) error {
	if err := x.warmUp(ctx); err != nil {
		return err
	}
	if x.plan.Replay != nil {
		return x.replay(ctx)
	}
	if err := x.walk(ctx); err != nil {
		return err
	}
	return x.shrink(ctx)
}

// exploration is one under way.
type exploration struct {
	*engine
	plan   Plan
	result *Result
	tell   func(Progress)
	began  time.Time
	told   time.Time
	left   int // orders, of the budget
	above  int // of these, for orders with more faults
	seen   map[[sha256.Size]byte]bool
	astray int       // orders in a row
	level  time.Time // when it began
	part   int       // of the budget, for the level
	// longest are the most moves of an order until now.
	longest int
}

// warmUp performs orders that do not count: what servers and programs do but once. In the first it looks
// whether the clients' clocks follow the bench's.
func (x *exploration) warmUp(ctx context.Context) error {
	o, err := x.begin(ctx)
	if err != nil {
		return err
	}
	x.volleys = len(x.service.Endpoints()) > 1
	err = x.follow(ctx, o)
	x.strays(err)
	o.End()
	x.allowed = x.Bounds.Faults
	for n := uint64(0); n < warmUps && ctx.Err() == nil && (err == nil || errors.Is(err, errAstray)) && !x.lost(); n++ {
		draw := newLanes(rand.New(rand.NewPCG(x.plan.Seed, n)), 3, max(x.longest, typical))
		_, err = x.random(ctx, draw, func(_ *order, moves []Move) error { x.longest = max(x.longest, len(moves)); return nil })
		x.strays(err)
	}
	if errors.Is(err, errAstray) && ctx.Err() == nil {
		err = nil // as others will be, which are counted
	}
	return err
}

// strays counts the orders in a row that went astray; lost reports whether these are too many for others
// to do better.
func (x *exploration) strays(err error) {
	if x.astray++; !errors.Is(err, errAstray) {
		x.astray = 0
	} else if x.astray == mostLost {
		x.result.GivenUp = err.Error()
	}
}

func (x *exploration) lost() bool { return x.result.GivenUp != "" }

// mostLost are the orders that may go astray one after the other.
const mostLost = 4

// typical are the moves of an order, as long as none was performed.
const typical = 20

// warmUps are the orders by which servers come to know what they need to know but once, such as a
// script.
const warmUps = 12

// walk walks all orders without faults, then those with one, and so on. Each number of faults has an
// equal part of the budget, and what those before it left.
func (x *exploration) walk(ctx context.Context) error {
	x.left, x.seen = x.plan.Budget, map[[sha256.Size]byte]bool{}
	levels := x.Bounds.levels()
	for n := 0; n <= levels && !x.lost(); n++ {
		x.allowed = n
		part := (x.left + levels - n) / (levels + 1 - n)
		x.above, x.part, x.level = x.left-part, part, time.Now()
		w := &walk{rules: x.rules, subject: x.engine, faults: n, most: rundir.MostAstray, mostVain: max(1, part), went: x.strays, vainly: x.lost}
		if x.plan.Unpruned < EveryMoment && x.plan.first() {
			w.kept = kept{}
		}
		level := &rundir.ExploredLevel{Faults: n}
		x.result.Levels = append(x.result.Levels, level)
		w.told = func(o Order, moves []Move) error {
			if x.left-w.astray <= x.above+part/drawn {
				return errBudget
			}
			return x.take(ctx, o.(*order), moves, level, w.share())
		}
		err := w.all(ctx)
		level.Astray, level.Why, level.Share = level.Astray+w.astray, cmp.Or(level.Why, w.why), 1
		level.Met, level.Moments = w.met, len(w.kept)
		if w.astray > w.most {
			x.left = x.above
		}
		if err != nil {
			level.Share = w.share()
		}
		if errors.Is(err, errBudget) {
			err = x.sample(ctx, level)
		}
		if errors.Is(err, errFound) {
			break
		}
		if err != nil {
			return err
		}
	}
	x.result.Digest = x.result.digest()
	return nil
}

// drawn is the part of the budget that is kept for orders that are drawn, where there are too many to
// walk: what a walk sees of these has all the same begin.
const drawn = 4

var (
	errBudget = errors.New("the budget is used up")
	errFound  = errors.New("what was looked for is found")
)

// take judges an order that was walked to its end.
func (x *exploration) take(ctx context.Context, o *order, moves []Move, level *rundir.ExploredLevel, share float64) error {
	x.longest = max(x.longest, len(moves))
	key := x.key(moves)
	if x.seen[key] { // before something led astray
		return nil
	}
	done := o.recorded()
	res, events, later, err := x.judged(ctx, o, moves)
	switch {
	case errors.Is(err, errUnjudged):
		level.Astray, level.Why = level.Astray+1, cmp.Or(level.Why, err.Error())
		x.left--
		x.seen[key] = true
		return nil
	case err != nil:
		return err
	}
	x.left--
	level.Orders++
	if o.cut {
		level.Cut++
	}
	x.seen[key] = true
	x.result.count(moves, res)
	x.result.ended(way(events[:done]), res.Outcome)
	if rundir.Breaks(res.Outcome) {
		x.result.keep(Violation{Schedule: Schedule{Plan: x.plan, Moves: slices.Clone(moves), Later: later}, ExploredOrder: rundir.ExploredOrder{Outcome: res.Outcome, Mechanism: res.Mechanism, Reason: res.Reason}, Events: events, Result: &res})
		level.Broken++
	}
	if now := time.Now(); now.Sub(x.told) > 200*time.Millisecond {
		x.told = now
		x.tell(Progress{level.Faults, level.Orders, share, level.Broken, x.leftOf(share, now)})
	}
	if slices.Contains(x.plan.Until, res.Outcome) {
		return errFound
	}
	return nil
}

// leftOf is about how long the level may still take: by the share that was walked, or by the budget that
// is left, whichever ends it first.
func (x *exploration) leftOf(share float64, now time.Time) float64 {
	took, part := now.Sub(x.level).Seconds(), x.part-(x.left-x.above)
	if took < 1 || part <= 0 || share <= 0 {
		return 0
	}
	return took * min((1-share)/share, float64(x.left-x.above)/float64(part))
}

// key tells orders apart that are not the same but for moves that do not depend on each other.
func (x *exploration) key(moves []Move) [sha256.Size]byte {
	text, _ := json.Marshal(x.rules.normal(moves))
	return sha256.Sum256(text)
}

// judged lets an order come to its end, and has it judged. later says that something came after
// the moves.
func (x *exploration) judged(ctx context.Context, o *order, moves []Move) (res checker.Result, events history.Events, later bool, err error) {
	if later = faults(moves) > 0 || !o.finished(); later {
		if err := o.after(ctx); err != nil {
			return res, nil, later, err
		}
	}
	events = o.ended()
	res, err = judge(ctx, x.history(moves), x.work, events)
	return res, events, later, err
}

// history is the plan of an order as a run.
func (x *exploration) history(moves []Move) history.Plan {
	text, _ := json.Marshal(moves)
	info := x.work.Info()
	// Of what the work itself must show, not every order shows something.
	evidence := slices.DeleteFunc(slices.Clone(info.Evidence), func(layer string) bool { return layer == checker.LayerWorkload })
	return history.Plan{Schema: history.Schema, Algorithm: x.plan.Algorithm, Exec: x.plan.Exec, Fault: "none", Workload: info.Name, Lab: x.plan.Lab, Topology: x.plan.Topology,
		Clients: x.Bounds.Clients, Processes: x.Bounds.Clients, TTL: TTL, Seed: x.plan.Seed, Traits: x.info.Traits, Evidence: evidence, Order: text}
}
