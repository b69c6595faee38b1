package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// startBound is how long all servers may take to start, which beside others take their time.
const startBound = 3 * time.Minute

// measurement is a benchmark at work.
type measurement struct {
	plan  cost.Plan
	on    lab.Driver
	dir   *rundir.Bench
	lab   lab.Lab
	rows  []row
	out   *cost.Bench
	rand  *rand.Rand
	given map[string]error // rows that hang, and how: they are left alone from then on
	mu    sync.Mutex       // of the cells, where several rows are measured at once

	spinner lab.Process // keeps the cores awake, nil for nobody
	unsure  []row       // have further turns
}

// Measure does the benchmark that dir's plan describes, inside the lab. What was measured
// is written after each round.
func Measure(ctx context.Context, dir string, c catalog.Catalog) error {
	d, err := rundir.OpenBench(dir)
	if err != nil {
		return err
	}
	if c, err = c.With(d.Bench.Plan.Exec); err != nil {
		return err
	}
	driver, err := c.Lab(d.Bench.Plan.Lab, d.Bench.Plan.Addrs)
	if err != nil {
		return err
	}
	l, err := driver.Open(ctx)
	if err != nil {
		return err
	}
	m := &measurement{plan: d.Bench.Plan, on: driver, dir: d, lab: l, out: d.Bench,
		rand: rand.New(rand.NewPCG(d.Bench.Plan.Seed, 0)), given: map[string]error{}}
	return errors.Join(m.all(ctx, c), l.Close(), os.RemoveAll(d.DataDir()))
}

func (m *measurement) all(ctx context.Context, c catalog.Catalog) error {
	deadline := time.Now().Add(m.plan.Budget - time.Duration(m.deaths())*deathBound(m.plan.TTL))
	data, err := filepath.Abs(m.dir.DataDir())
	if err != nil {
		return err
	}
	if m.on.Borrowed == nil { // else the disk is elsewhere
		if m.out.Sync, err = diskSync(data); err != nil {
			return err
		}
	}
	starting, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	err = m.apart(ctx, func() (err error) {
		m.rows, err = bringUp(starting, m.lab, m.on, c, m.plan, group{data: data, log: m.dir.OpenLog})
		return err
	})
	if err != nil {
		return err
	}
	if err := m.warmUp(ctx); err != nil {
		return err
	}
	m.cells()
	began := time.Now()
	if err := m.programs(ctx); err != nil {
		return err
	}
	if err := m.rounds(ctx, deadline.Add(time.Since(began))); err != nil {
		return err
	}
	if err := m.distances(ctx, c); err != nil {
		return err
	}
	if err := m.together(); err != nil {
		return err
	}
	if err := m.outages(ctx); err != nil {
		return err
	}
	return m.dir.Save()
}

// rounds does all rounds, and those that are further.
func (m *measurement) rounds(ctx context.Context, deadline time.Time) error {
	if len(m.others()) == 0 { // programs alone, which have had theirs
		m.out.Rounds = m.plan.Rounds
		m.tooFew()
		return m.dir.Save()
	}
	watch := newNeighbours()
	for round := 0; ; round++ {
		rows, budget := m.next(round, time.Until(deadline))
		if round >= m.plan.Rounds && len(rows) == 0 {
			m.tooFew()
			return nil
		}
		if err := m.round(ctx, round, rows, budget); err != nil {
			return err
		}
		watch.look()
		m.out.Rounds, m.out.Noise = round+1, watch.noise()
		if err := m.dir.Save(); err != nil {
			return err
		}
	}
}

// tooFew takes figures back of which most rounds say nothing.
func (m *measurement) tooFew() {
	for _, c := range m.out.Cells {
		if f := c.Figures[cost.Grants]; f != nil && 2*c.Few > len(f.Values) {
			c.Forget(cost.Grants, cost.HandOffs, cost.P50, cost.P99, cost.Fair, cost.Barges)
			c.Fail(fmt.Errorf("fewer than %d grants in %d of %d turns are too few for a rate", fewGrants, c.Few, len(f.Values)))
		}
	}
}

// warmUp visits every row once for nothing: a server that has just started is slow, and
// one that is written in Java very slow.
func (m *measurement) warmUp(ctx context.Context) error {
	return m.forNothing(func() error { return m.round(ctx, 0, m.others(), m.plan.Budget/20) })
}

// forNothing does what it does without its figures, and without curves.
func (m *measurement) forNothing(do func() error) error {
	out, short := m.out, m.plan.Short
	defer func() { m.out, m.plan.Short = out, short }()
	m.out, m.plan.Short = &cost.Bench{}, true
	m.cells()
	return do()
}

// others are the rows that have their turns in the rounds.
func (m *measurement) others() []row {
	return slices.DeleteFunc(slices.Clone(m.rows), row.program)
}

// A planned round is of all rows, and of the time it may take its part. In what is left then, those rows
// whose figures are not sure yet have further turns. Who is sure is asked again only when there are twice as many rounds:
// to look after each and to stop when it pleases would make intervals too narrow.
const (
	further   = 8                      // rounds that are left time for
	leastTurn = 200 * time.Millisecond // of a row in them
	mostTurns = 4                      // times as many rounds as planned
)

// next are the rows of a round and how long it may take; none where the benchmark is done.
func (m *measurement) next(round int, left time.Duration) (rows []row, budget time.Duration) {
	planned := m.plan.Rounds
	switch {
	case round < planned:
		return m.others(), max(left, 0) / time.Duration(planned-round+further)
	case round == planned, round == 2*planned:
		m.unsure = m.doubtful()
	}
	if len(m.unsure) == 0 || round >= mostTurns*planned || left < leastTurn {
		return nil, 0
	}
	budget = max(left/further, time.Duration(len(m.unsure))*leastTurn)
	return m.unsure, min(budget, left)
}

// doubtful are the rows with a figure that decides and is not sure, and the baseline, which others are
// held against. A row that hangs is hopeless and not doubtful.
func (m *measurement) doubtful() (rows []row) {
	unsure := map[string]bool{}
	for _, f := range m.out.Unsure() {
		unsure[rowID(f.Algorithm, f.Servers)] = true
	}
	doubts := 0
	for _, r := range m.others() {
		if m.given[r.id()] != nil {
			continue
		}
		if unsure[r.id()] {
			doubts++
		} else if r.name() != m.plan.Baseline {
			continue
		}
		rows = append(rows, r)
	}
	if doubts == 0 {
		return nil
	}
	return rows
}

// cells makes those that every row has, in the order of the plan.
func (m *measurement) cells() {
	for _, r := range m.rows {
		m.out.Cell(cost.Uncontended(r.name(), r.on.servers), r.on.topology.Name)
		m.out.Cell(cost.Contended(r.name(), r.on.servers), r.on.topology.Name)
	}
}

// round visits every one of the rows once, in an order of its own. A visit that took longer than its
// part takes it from those that follow, and leaves them what it did not need.
func (m *measurement) round(ctx context.Context, round int, rows []row, budget time.Duration) error {
	end, left := time.Now().Add(budget), 0.0
	for _, r := range rows {
		left += m.weight(r, round)
	}
	for _, i := range m.rand.Perm(len(rows)) {
		w := m.weight(rows[i], round)
		part := time.Duration(float64(time.Until(end)) * w / left)
		if err := m.visit(ctx, rows[i], round, part); err != nil {
			return err
		}
		left -= w
	}
	return ctx.Err()
}
