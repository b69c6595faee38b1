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
	partAsleep  = .5
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

// atOnce is how many points of the curves a visit measures, beside that of locks that lie apart: all have a turn.
func (m *measurement) atOnce() int {
	others := len(contenders) + len(locks) - 1
	return max(2, (others+m.plan.Rounds-1)/m.plan.Rounds)
}

// curves reports whether a row's curves are measured: once, and in the rounds that are planned.
func (m *measurement) curves(r row, round int) bool {
	return !m.plan.Short && m.first(r) && round < m.plan.Rounds
}

// sleeps reports whether the row's cycle is measured where the cores may sleep, too: where nobody waits for a disk.
func (m *measurement) sleeps(r row, round int) bool {
	return m.spinner != nil && r.on.servers == cost.Memory && r.on.yard != nil && round < m.plan.Rounds
}

// weight is a row's part of a round.
func (m *measurement) weight(r row, round int) float64 {
	w := partAlone + float64(partHandOff)
	if m.sleeps(r, round) {
		w += partAsleep
	}
	if m.curves(r, round) {
		w += partPoint * float64(1+m.atOnce())
	}
	if m.plan.Rate > 0 {
		w += partOpen
	}
	return w
}

// visit measures one row for about so long. What fails costs the row its figures, and
// only the end of ctx ends the benchmark.
func (m *measurement) visit(ctx context.Context, r row, round int, budget time.Duration) error {
	if hung := m.given[r.id()]; hung != nil {
		m.out.Find(cost.Contended(r.name(), r.on.servers)).Fail(hung)
		return ctx.Err()
	}
	v := m.visitOf(r, round)
	return m.settle(ctx, v, v.all(ctx, budget))
}

func (m *measurement) visitOf(r row, round int) *visit {
	return &visit{m, &party{row: r, ttl: m.plan.TTL, seed: m.plan.Seed}, round, fmt.Sprintf("lockbench:bench-%s-%s-%d", r.name(), r.on.servers, round)}
}

// settle ends a visit, and tells what it could not measure, and why.
func (m *measurement) settle(ctx context.Context, v *visit, err error) error {
	r := v.party.row
	err = errors.Join(err, v.party.close())
	if errors.Is(err, errHung) {
		m.given[r.id()] = err
	}
	if err != nil && ctx.Err() == nil {
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
	if err := v.party.grow(ctx, cost.Contenders, openWithin(budget)); err != nil {
		v.cell(cost.Closed, 1, 1).Fail(err)
		return err
	}
	curves := v.curves(v.party.row, v.round)
	sessions := 2 // to close takes as long as to open
	if curves {
		sessions = 2 * (1 + contenders[len(contenders)-1]/cost.Contenders)
	}
	left := budget*9/10 - time.Duration(sessions)*time.Since(start) // a tenth goes between the windows
	part := func(p float64) time.Duration {
		return max(time.Duration(float64(left)*p/v.weight(v.party.row, v.round)), leastWindow)
	}
	v.alone(ctx, part(partAlone))
	if v.sleeps(v.party.row, v.round) {
		v.asleep(ctx, part(partAsleep))
	}
	if n := v.party.row.impl.Info().Traits.AtOnce(); n > 1 {
		if c := v.cell(cost.Closed, cost.Contenders, 1); c.Failures == 0 { // said once, not in each round
			c.Fail(fmt.Errorf("%d may hold it at once: there is no hand-off from one to the next to measure", n))
		}
		return nil
	}
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

// curve measures other points, others in each round. What is still missing when the time is over has its
// turn in another round: a slow row takes no other's time.
func (v *visit) curve(ctx context.Context, window time.Duration, end time.Time) error {
	type point struct{ clients, locks int }
	var points []point
	for _, n := range locks {
		if n != cost.Apart {
			points = append(points, point{cost.Contenders, n})
		}
	}
	for _, n := range contenders {
		points = append(points, point{n, 1})
	}
	turn, n := []point{{cost.Contenders, cost.Apart}}, v.atOnce()
	for i := range n {
		turn = append(turn, points[(n*v.round+i)%len(points)])
	}
	for _, p := range turn {
		if time.Now().After(end) {
			return nil
		}
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

// asleep measures the same cycle where the cores may sleep.
func (v *visit) asleep(ctx context.Context, window time.Duration) {
	err := v.measurement.asleep(func() error {
		took, err := cycles(ctx, v.party, v.lock+"-asleep", window)
		if err == nil {
			v.cell(cost.Closed, 1, 1).Add(v.round, cost.Asleep, float64(took.At(.5)))
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		v.cell(cost.Closed, 1, 1).Fail(err)
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
	if r.Waiting {
		c.Waiting++
	}
	if c.Locks == 1 {
		c.Add(v.round, cost.HandOffs, r.PerSecond(r.HandOffs))
	}
	if r.Grants < fewGrants { // a rate of few is a rate: without it only good rounds would be left
		c.Few++
		return
	}
	c.Add(v.round, cost.Overlaps, r.Share(r.Overlaps))
	c.Add(v.round, cost.Fair, cost.Fairness(r.Each))
	c.Add(v.round, cost.Requests, float64(r.requests)/float64(r.Grants))
	c.Add(v.round, cost.WakeUps, float64(r.wakes)/float64(r.Grants))
	if c.Locks == 1 {
		c.Add(v.round, cost.Barges, r.Share(r.Barging))
	}
	if r.waits.Len() > 0 {
		c.Add(v.round, cost.P50, float64(r.waits.At(.5)))
		c.Add(v.round, cost.P99, float64(r.waits.At(.99)))
		c.AddLatencies(r.waits)
	}
}
