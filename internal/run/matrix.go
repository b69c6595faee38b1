package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Matrix is a set of algorithms under a set of faults.
type Matrix struct {
	Algorithms []lb.Impl
	Faults     []lb.Fault
	Workload   lb.Workload
	// Base is the plan of every run, save for what differs from cell to cell. Its
	// seed is that of each cell's first run; later runs count up from it.
	Base lb.Plan
	// Runs of each cell, and Jobs, the number of runs at the same time.
	Runs, Jobs int
	// Done is called after each cell, from one goroutine at a time.
	Done func(cell lb.Cell, done, total int)
}

// Setting is where the fault would strike the algorithm in a run of this plan.
func Setting(plan lb.Plan, info lb.Info, work lb.WorkloadInfo) lb.Setting {
	t, _ := lab.FindTopology(plan.Topology)
	return lb.Setting{
		Lab: plan.Lab, Network: plan.Lab == LabLocal, Servers: t.Servers, Leader: t.Leads(), Elects: t.Elects(), Quorum: t.Quorum(), Clock: clockable(plan.Lab, t),
		Algorithm: info, Workload: work,
	}
}

// clockable says why the servers' clocks can't be moved, or nil.
func clockable(labName string, t lab.Topology) error {
	switch {
	case labName != LabLocal:
		return fmt.Errorf("the %s lab can't move a server's clock; use --lab local", labName)
	case !t.Clock():
		return fmt.Errorf("the clock of a %s server can't be moved apart from its machine's", t.Kind)
	}
	return lab.HasCompiler()
}

const defaultTTL = time.Second

// topologyFor is the first of the algorithm's topologies that the fault can strike:
// a lock that runs on one server meets a failover where there is something to fail
// over to.
func topologyFor(info lb.Info, fault lb.Fault, plan lb.Plan, work lb.WorkloadInfo) string {
	for _, name := range info.Topologies {
		plan.Topology = name
		if fault.Available(Setting(plan, info, work)) == nil {
			return name
		}
	}
	return info.Topologies[0]
}

// For returns the base plan made one of this algorithm and fault.
func (m *Matrix) For(impl lb.Impl, fault lb.Fault, n int) lb.Plan {
	info, plan := impl.Info(), m.Base
	plan.Algorithm, plan.Fault, plan.Workload = info.Name, fault.Name(), m.Workload.Info().Name
	plan.Traits, plan.Expect, plan.Jobs = info.Traits, info.Expected(plan.Fault), max(1, m.Jobs)
	plan.Seed += uint64(n)
	if plan.Topology == "" {
		plan.Topology = topologyFor(info, fault, plan, m.Workload.Info())
	}
	if plan.TTL == 0 {
		plan.TTL = defaultTTL
		if patient, ok := fault.(lb.PatientFault); ok {
			plan.TTL = max(plan.TTL, patient.MinTTL())
		}
	}
	return plan
}

// slot is one place of the matrix.
type slot struct {
	impl  lb.Impl
	fault lb.Fault
}

// Run does all runs in the matrix's new directory. All cells are returned, also those
// whose runs failed or were not done; the error then says why.
func (m *Matrix) Run(ctx context.Context, dir string) ([]lb.Cell, error) {
	var slots []slot
	var planned []lb.Cell
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
func (m *Matrix) planned(impl lb.Impl, fault lb.Fault) lb.Cell {
	plan := m.For(impl, fault, 0)
	c := lb.Cell{Algorithm: plan.Algorithm, Fault: plan.Fault, Seed: plan.Seed}
	if err := fault.Available(Setting(plan, impl.Info(), m.Workload.Info())); err != nil {
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
		results = make(map[int]lb.RunResult)
	)
	for n := range m.Runs {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				return
			}
			_, dir := out.RunDir(i, n)
			res, err := Execute(ctx, dir, m.For(s.impl, s.fault, n))
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
func merge(results map[int]lb.RunResult, dir func(n int) string) lb.Cell {
	var done []lb.RunResult
	numbers := slices.Sorted(maps.Keys(results))
	for _, n := range numbers {
		done = append(done, results[n])
	}
	cell := Cell(done)
	cell.Dir = dir(numbers[Decisive(done)])
	return cell
}
