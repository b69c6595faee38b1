package run

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/workloads"
)

// Matrix is a set of algorithms under a set of faults.
type Matrix struct {
	Catalog    catalog.Catalog
	Algorithms []lb.Impl
	Faults     []faults.Fault
	Workload   workloads.Workload
	// Base is the plan of every run, save for what differs from cell to cell. Its
	// seed is that of each cell's first run; later runs count up from it.
	Base history.Plan
	// Runs of each cell, and Jobs, the number of runs at the same time.
	Runs, Jobs int
	// Done is called after each cell, from one goroutine at a time.
	Done func(cell checker.Cell, done, total int)
}

const defaultTTL = time.Second

// For returns the base plan made one of this algorithm and fault. Its topology is the
// first of the algorithm's that the fault can strike: a lock that runs on one server
// meets a failover where there is something to fail over to.
func (m *Matrix) For(impl lb.Impl, fault faults.Fault, n int) history.Plan {
	info, work, plan := impl.Info(), m.Workload.Info(), m.Base
	plan.Algorithm, plan.Fault, plan.Workload = info.Name, fault.Name, work.Name
	plan.Traits, plan.Expect, plan.Jobs = info.Traits, work.Expected(info, plan.Fault), max(1, m.Jobs)
	plan.Evidence, plan.Guarded, plan.GivesUp = work.Evidence, work.Guarded, work.GivesUp
	plan.Seed += uint64(n)
	if plan.Topology == "" {
		plan.Topology = info.Topologies[0]
		for _, name := range info.Topologies {
			there := plan
			there.Topology = name
			if m.Available(there, fault) == nil {
				plan.Topology = name
				break
			}
		}
	}
	if plan.TTL == 0 {
		plan.TTL = max(defaultTTL, fault.MinTTL)
	}
	plan.Duration = max(plan.Duration, work.AtLeast(plan.TTL))
	return plan
}

// Available says why there is no run of the plan: the workload asks for what the lock
// has not, or the fault can't strike; or nil.
func (m *Matrix) Available(plan history.Plan, fault faults.Fault) error {
	setting, err := m.Catalog.Setting(plan)
	if err != nil {
		return err
	}
	if err := setting.Workload.Available(setting.Algorithm); err != nil {
		return err
	}
	return fault.Available(setting)
}

// slot is one place of the matrix.
type slot struct {
	impl  lb.Impl
	fault faults.Fault
}

// Run does all runs in the matrix's new directory. All cells are returned, also those
// whose runs failed or were not done; the error then says why.
func (m *Matrix) Run(ctx context.Context, dir string) ([]checker.Cell, error) {
	var slots []slot
	var planned []checker.Cell
	for _, impl := range m.Algorithms {
		for _, f := range m.Faults {
			slots = append(slots, slot{impl, f})
			planned = append(planned, m.planned(impl, f))
		}
	}
	out, err := rundir.CreateMatrix(dir, planned, m.Runs)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(slots))
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int
		free = make(chan struct{}, max(1, m.Jobs))
	)
	for i, s := range slots {
		wg.Go(func() {
			if planned[i].Outcome != lb.NotAvailable {
				errs[i] = m.cell(ctx, out, i, s, free)
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			if m.Done != nil && ctx.Err() == nil {
				m.Done(out.Cell(i), done, len(slots))
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return out.Cells, err
	}
	return out.Cells, errors.Join(errs...)
}

// planned is the cell before any run.
func (m *Matrix) planned(impl lb.Impl, fault faults.Fault) checker.Cell {
	plan := m.For(impl, fault, 0)
	c := checker.Cell{Algorithm: plan.Algorithm, Fault: plan.Fault, Seed: plan.Seed}
	if err := m.Available(plan, fault); err != nil {
		c.Outcome, c.Reason, c.OutageMS, c.FirstViolationMS = lb.NotAvailable, err.Error(), -1, -1
	}
	return c
}

// cell does the runs of one cell, each when there is a free place for it.
func (m *Matrix) cell(ctx context.Context, out *rundir.Matrix, i int, s slot, free chan struct{}) error {
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		errs    []error
		results = make(map[int]checker.Result)
	)
	for n := range m.Runs {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				return
			}
			_, dir := out.RunDir(i, n)
			res, err := Execute(ctx, m.Catalog, dir, m.For(s.impl, s.fault, n))
			if wasInterrupted(res) { // as if it had not begun
				return
			}
			mu.Lock()
			defer mu.Unlock()
			results[n] = res
			errs = append(errs, err, out.Set(i, merge(results, func(n int) string { dir, _ := out.RunDir(i, n); return dir })))
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// merge makes a cell of the runs that have been done, by their numbers.
func merge(results map[int]checker.Result, dir func(n int) string) checker.Cell {
	var done []checker.Result
	numbers := slices.Sorted(maps.Keys(results))
	for _, n := range numbers {
		done = append(done, results[n])
	}
	cell := Cell(done)
	cell.Dir = dir(numbers[Decisive(done)])
	return cell
}
