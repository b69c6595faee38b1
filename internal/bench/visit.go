package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/cost"
)

// leastWindow is the least time that anything is measured for.
const leastWindow = 20 * time.Millisecond

// The parts of a visit, in shares of its time.
const (
	partAlone   = 1.5
	partHandOff = 2
	partPoint   = .75 // of a curve
	partOpen    = 2
)

// The points of the curves, beside those that every visit measures: how many want one
// lock, and how many locks are wanted by as many clients as contend for one.
var (
	contenders = []int{2, 4, 8, 32, 64}
	locks      = []int{10, cost.Apart, 1000}
)

// curves reports whether a row's curves are measured: once, and where people would run it.
func (m *measurement) curves(r row) bool {
	return !r.impl.Info().Program && !m.plan.Short && m.first(r)
}

// weight is a row's part of a round.
func (m *measurement) weight(r row) float64 {
	w := partAlone + float64(partHandOff)
	if m.curves(r) {
		w += partPoint * float64(len(contenders)+len(locks))
	}
	if m.plan.Rate > 0 {
		w += partOpen
	}
	return w
}

// visit measures one row for about so long. What fails costs the row its figures, and
// only the end of ctx ends the benchmark.
func (m *measurement) visit(ctx context.Context, r row, round int, budget time.Duration) error {
	id := fmt.Sprintf("%s-%s", r.name(), r.on.servers)
	if hung := m.given[id]; hung != nil {
		m.out.Find(cost.Contended(r.name(), r.on.servers)).Fail(hung)
		return ctx.Err()
	}
	v := &visit{m, &party{row: r, ttl: m.plan.TTL, seed: m.plan.Seed}, round, fmt.Sprintf("lockbench:bench-%s-%d", id, round)}
	err := errors.Join(v.all(ctx, budget), v.party.close())
	if errors.Is(err, errHung) && !r.impl.Info().Program { // who only starts slowly may do better next time
		m.given[id] = err
	}
	if err != nil && ctx.Err() == nil { // of what it could not measure
		m.out.Find(cost.Contended(r.name(), r.on.servers)).Fail(err)
	}
	return ctx.Err()
}

// visit is a row's turn in a round.
type visit struct {
	*measurement
	party *party
	round int
	lock  string // and what its names begin with: each visit has locks of its own
}

// all measures everything. An error is one after which there is no more to be had.
func (v *visit) all(ctx context.Context, budget time.Duration) error {
	start := time.Now()
	if v.party.row.impl.Info().Program {
		return v.programs(ctx, budget)
	}
	if err := v.party.grow(ctx, cost.Contenders, openWithin(budget)); err != nil {
		v.cell(cost.Closed, 1, 1).Fail(err)
		return err
	}
	curves := v.curves(v.party.row)
	sessions := 2 // to close takes as long as to open
	if curves {
		sessions = 2 * (1 + contenders[len(contenders)-1]/cost.Contenders)
	}
	left := budget*9/10 - time.Duration(sessions)*time.Since(start) // a tenth goes between the windows
	part := func(p float64) time.Duration {
		return max(time.Duration(float64(left)*p/v.weight(v.party.row)), leastWindow)
	}
	v.alone(ctx, part(partAlone))
	if err := v.crowd(ctx, cost.Closed, cost.Contenders, 1, part(partHandOff)); err != nil {
		return err
	}
	if v.plan.Rate > 0 {
		if err := v.crowd(ctx, cost.Open, cost.Contenders, 1, part(partOpen)); err != nil {
			return err
		}
	}
	if !curves {
		return nil
	}
	return v.curve(ctx, part(partPoint), start.Add(budget*6/5))
}

// programs measures a lock that is a program: what one costs before others start, since so many
// virtual machines may take longer than there is time. There are no curves.
func (v *visit) programs(ctx context.Context, budget time.Duration) error {
	if err := v.party.grow(ctx, 1, openBound); err != nil {
		v.cell(cost.Closed, 1, 1).Fail(err)
		return err
	}
	v.alone(ctx, max(budget/5, leastWindow))
	if err := v.party.grow(ctx, cost.Contenders, openBound); err != nil {
		return err
	}
	return v.crowd(ctx, cost.Closed, cost.Contenders, 1, max(budget/5, leastWindow))
}

// curve measures the other points, of which another is the first in each round. What is
// still missing when the time is over has its turn in another round: a slow row takes no
// other's time.
func (v *visit) curve(ctx context.Context, window time.Duration, end time.Time) error {
	type point struct{ clients, locks int }
	var points []point
	for _, n := range locks {
		points = append(points, point{cost.Contenders, n})
	}
	for _, n := range contenders {
		points = append(points, point{n, 1})
	}
	const step = 3 // and no divisor of their number
	for i := range points {
		if time.Now().After(end) {
			return nil
		}
		p := points[(step*v.round+i)%len(points)]
		if err := v.party.grow(ctx, p.clients, openWithin(time.Until(end))); err != nil {
			return err
		}
		if err := v.crowd(ctx, cost.Closed, p.clients, p.locks, window); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) cell(loop cost.Loop, clients, locks int) *cost.Cell {
	r := v.party.row
	return v.out.Cell(cost.Key{Algorithm: r.name(), Servers: r.on.servers, Loop: loop, Clients: clients, Locks: locks}, r.on.topology.Name)
}

// alone measures what one client pays.
func (v *visit) alone(ctx context.Context, window time.Duration) {
	c := v.cell(cost.Closed, 1, 1)
	a, err := uncontended(ctx, v.party, v.lock+"-alone", window)
	if err != nil {
		if ctx.Err() == nil {
			c.Fail(err)
		}
		return
	}
	c.Add(v.round, cost.Cycle, float64(a.cycle.At(.5)))
	c.Add(v.round, cost.Grants, float64(time.Second)/float64(max(1, a.cycle.Mean())))
	c.Add(v.round, cost.Requests, a.requests)
	c.AddLatencies(a.cycle)
	if v.party.row.on.yard != nil {
		c.Add(v.round, cost.Floor, float64(a.floor.At(.5)))
		c.Add(v.round, cost.Writes, float64(a.writes.At(.5)))
	}
}

// crowd measures what many pay who want the same locks. The error is that of clients
// that hang: what fails otherwise costs only these figures.
func (v *visit) crowd(ctx context.Context, loop cost.Loop, clients, locks int, window time.Duration) error {
	c := v.cell(loop, clients, locks)
	names := make([]string, locks)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d-%s-%d", v.lock, clients, loop, i)
	}
	crowd := newCrowd(v.party, clients, names)
	if loop == cost.Open {
		crowd.next = atRate(v.plan.Rate, clients, v.plan.Seed+uint64(v.round))
	}
	u := usage{lab: v.lab, pids: v.party.row.on.pids()}
	r, err := crowd.together(ctx, window, u.begin, u.end)
	if err != nil {
		if errors.Is(err, errHung) || ctx.Err() != nil {
			return err
		}
		c.Fail(err)
		return nil
	}
	v.account(c, r)
	u.account(c, v.round, r.Grants)
	return nil
}

// account adds the figures of a crowd to its cell.
func (v *visit) account(c *cost.Cell, r counted) {
	c.Add(v.round, cost.Grants, r.PerSecond(r.Grants))
	c.Add(v.round, cost.Longest, float64(r.Longest))
	if c.Locks == 1 {
		c.Add(v.round, cost.HandOffs, r.PerSecond(r.HandOffs))
	}
	if r.Grants > 0 {
		c.Add(v.round, cost.Overlaps, r.Share(r.Overlaps))
		c.Add(v.round, cost.Fair, cost.Fairness(r.Each))
		c.Add(v.round, cost.Requests, float64(r.requests)/float64(r.Grants))
		c.Add(v.round, cost.WakeUps, float64(r.wakes)/float64(r.Grants))
		if c.Locks == 1 {
			c.Add(v.round, cost.Barges, r.Share(r.Barging))
		}
	}
	if r.waits.Len() > 0 {
		c.Add(v.round, cost.P50, float64(r.waits.At(.5)))
		c.Add(v.round, cost.P99, float64(r.waits.At(.99)))
		c.AddLatencies(r.waits)
	}
}
