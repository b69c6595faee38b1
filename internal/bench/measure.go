package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// startBound is how long all servers may take to start.
const startBound = time.Minute

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
	if m.rows, err = bringUp(starting, m.lab, m.on, c, m.plan, data, m.dir.OpenLog); err != nil {
		return err
	}
	if err := m.warmUp(ctx); err != nil {
		return err
	}
	m.cells()
	watch := newNeighbours()
	for round := range m.plan.Rounds {
		if err := m.round(ctx, round, share(time.Until(deadline), m.plan.Rounds-round)); err != nil {
			return err
		}
		watch.look()
		m.out.Rounds, m.out.Noise = round+1, watch.noise()
		if err := m.dir.Save(); err != nil {
			return err
		}
	}
	if err := m.outages(ctx); err != nil {
		return err
	}
	return m.dir.Save()
}

// warmUp visits every row once for nothing: a server that has just started is slow, and
// one that is written in Java very slow.
func (m *measurement) warmUp(ctx context.Context) error {
	out, short := m.out, m.plan.Short
	defer func() { m.out, m.plan.Short = out, short }()
	m.out, m.plan.Short = &cost.Bench{}, true
	m.cells()
	return m.round(ctx, 0, m.plan.Budget/20)
}

// share is a round's part of the time that is left.
func share(left time.Duration, rounds int) time.Duration {
	return max(left, 0) / time.Duration(max(1, rounds))
}

// cells makes those that every row has, in the order of the plan.
func (m *measurement) cells() {
	for _, r := range m.rows {
		m.out.Cell(cost.Uncontended(r.name(), r.on.servers), r.on.topology.Name)
		m.out.Cell(cost.Contended(r.name(), r.on.servers), r.on.topology.Name)
	}
}

// round visits every row once, in an order of its own. A visit that took longer than its
// part takes it from those that follow.
func (m *measurement) round(ctx context.Context, round int, budget time.Duration) error {
	end, left := time.Now().Add(budget), 0.0
	for _, r := range m.rows {
		left += m.weight(r)
	}
	for _, i := range m.rand.Perm(len(m.rows)) {
		w := m.weight(m.rows[i])
		part := time.Duration(float64(time.Until(end)) * w / left)
		if err := m.visit(ctx, m.rows[i], round, part); err != nil {
			return err
		}
		left -= w
	}
	return ctx.Err()
}
