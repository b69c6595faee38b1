package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/lab"
)

// farTurn is how long a turn takes at a distance: sessions are opened in it, and cycles and hand-offs of some
// round trips each are done.
func farTurn(roundTrip time.Duration) time.Duration { return 200*time.Millisecond + 100*roundTrip }

// FarBudget is about how long the distances of a plan take, beside its budget.
func FarBudget(p cost.Plan) (all time.Duration) {
	if len(p.Distances) == 0 {
		return 0
	}
	const starts = 15 * time.Second
	locks := len(p.Algorithms) - len(p.Programs)
	for _, d := range near(p.Distances) {
		all += starts + time.Duration(locks*(2*cost.FarRounds+1)/2)*farTurn(d)
	}
	return all.Round(time.Second)
}

// near puts the nearest in front, which the others are held against.
func near(distances []time.Duration) []time.Duration {
	return slices.Concat([]time.Duration{0}, distances)
}

// distances measures every lock at each distance, on servers of its own.
func (m *measurement) distances(ctx context.Context, c catalog.Catalog) error {
	if len(m.plan.Distances) == 0 || len(m.others()) == 0 {
		return nil
	}
	far, ok := m.lab.(lab.Stretchable)
	if !ok {
		return errors.New("the lab's hosts can't be put far from each other")
	}
	for i, d := range near(m.plan.Distances) {
		at := &cost.Far{RoundTrip: d}
		m.out.Far = append(m.out.Far, at)
		err := far.Stretch(d)
		if err == nil {
			err = m.distance(ctx, c, at, fmt.Sprintf("far%d-", i))
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil { // the others, and what comes after them, need not be without figures for that
			at.Failed = err.Error()
		}
		if err := m.dir.Save(); err != nil {
			return err
		}
	}
	return far.Stretch(0)
}

// distance is a benchmark of its own: other servers, one column, and neither curves nor an open loop.
func (m *measurement) distance(ctx context.Context, c catalog.Catalog, at *cost.Far, prefix string) (err error) {
	defer func(plan cost.Plan, out *cost.Bench, rows []row, given map[string]error, spinner lab.Process) {
		m.plan, m.out, m.rows, m.given, m.spinner = plan, out, rows, given, spinner
	}(m.plan, m.out, m.rows, m.given, m.spinner)
	m.out, m.given, m.spinner = &cost.Bench{}, map[string]error{}, nil
	m.plan.Short, m.plan.Rate, m.plan.Rounds = true, 0, cost.FarRounds
	if m.rows, err = m.bringUpFar(ctx, c, prefix); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end(ctx, m.rows)) }()
	turns := time.Duration(len(m.rows)) * farTurn(at.RoundTrip)
	if err := m.forNothing(func() error { return m.round(ctx, 0, m.rows, turns/2) }); err != nil {
		return err
	}
	m.cells()
	watch := newNeighbours()
	for round := range cost.FarRounds {
		if err := m.round(ctx, round, m.rows, turns); err != nil {
			return err
		}
		watch.look()
		at.Rounds, at.Cells, at.Noise = round+1, m.out.Cells, watch.noise()
		if err := m.dir.Save(); err != nil {
			return err
		}
	}
	m.tooFew()
	for _, cell := range at.Cells {
		cell.Forget(cost.ClientNS) // this process's, which keeps the packets back as well
	}
	return nil
}

// bringUpFar starts servers without a disk for all rows that have turns, on the cores that servers have.
func (m *measurement) bringUpFar(ctx context.Context, c catalog.Catalog, prefix string) (rows []row, err error) {
	plan := m.plan
	plan.Algorithms = slices.DeleteFunc(slices.Clone(plan.Algorithms), func(name string) bool { return slices.Contains(plan.Programs, name) })
	starting, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	cores := m.dir.Bench.Cores
	if cores.Left == "" {
		if err := confine(cores.Servers); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, confine(cores.Clients)) }()
	}
	rows, err = bringUp(starting, m.lab, m.on, c, plan, group{prefix: prefix, only: cost.Memory, log: m.dir.OpenLog})
	return slices.DeleteFunc(rows, func(r row) bool { return r.on.topology.Servers == 0 }), err
}

// end kills the servers of rows that nobody needs any more.
func end(ctx context.Context, rows []row) (err error) {
	ended := map[*service]bool{}
	for _, r := range rows {
		if ended[r.on] {
			continue
		}
		ended[r.on] = true
		if r.on.yard != nil {
			r.on.yard.Close()
		}
		for _, s := range slices.Concat(r.on.up.Servers, r.on.up.Sentinels) {
			if e := s.Kill(ctx); !errors.Is(e, os.ErrProcessDone) { // one that ended by itself is gone, too
				err = errors.Join(err, e)
			}
		}
	}
	return err
}
