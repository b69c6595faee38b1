package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/lab"
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
	plan.Fenced, plan.Leased, plan.Reentrant = info.Traits.Fenced, info.Traits.Leased, info.Traits.Reentrant
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

// Run does all runs below dir and writes matrix.json there. The cells that have
// a result are returned even when others failed.
func (m *Matrix) Run(ctx context.Context, dir string) ([]lb.Cell, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	type slot struct {
		impl  lb.Impl
		fault lb.Fault
	}
	var slots []slot
	for _, impl := range m.Algorithms {
		for _, f := range m.Faults {
			slots = append(slots, slot{impl, f})
		}
	}
	cells, errs := make([]lb.Cell, len(slots)), make([]error, len(slots))
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int
		free = make(chan struct{}, max(1, m.Jobs))
	)
	for i, s := range slots {
		wg.Go(func() {
			cells[i], errs[i] = m.cell(ctx, dir, s.impl, s.fault, free)
			mu.Lock()
			defer mu.Unlock()
			done++
			if m.Done != nil && errs[i] == nil {
				m.Done(cells[i], done, len(slots))
			}
		})
	}
	wg.Wait()
	var have []lb.Cell
	for i, c := range cells {
		if errs[i] == nil {
			have = append(have, c)
		}
	}
	return have, errors.Join(errors.Join(errs...), WriteMatrix(dir, have))
}

// cell does the runs of one cell, each when there is a free place for it.
func (m *Matrix) cell(ctx context.Context, dir string, impl lb.Impl, fault lb.Fault, free chan struct{}) (lb.Cell, error) {
	info, plan := impl.Info(), m.For(impl, fault, 0)
	if err := fault.Available(Setting(plan, info, m.Workload.Info())); err != nil {
		return lb.Cell{
			Algorithm: plan.Algorithm, Fault: plan.Fault, Outcome: lb.NotAvailable, Reason: err.Error(),
			OutageMS: -1, FirstViolationMS: -1, Seed: plan.Seed,
		}, nil
	}
	results, errs := make([]lb.RunResult, m.Runs), make([]error, m.Runs)
	var wg sync.WaitGroup
	for n := range m.Runs {
		plan := m.For(impl, fault, n)
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if errs[n] = ctx.Err(); errs[n] == nil {
				results[n], errs[n] = Execute(ctx, filepath.Join(dir, runDir(plan, n)), plan)
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return lb.Cell{}, err
	}
	cell := checker.Cell(results, info)
	cell.Dir = runDir(plan, checker.Worst(results))
	return cell, nil
}

// runDir is where the nth run of a cell is, below the matrix's directory.
func runDir(plan lb.Plan, n int) string {
	return filepath.Join("cells", plan.Algorithm, plan.Fault, fmt.Sprint(n+1))
}

// MatrixFile is matrix.json, and what --json prints.
type MatrixFile struct {
	Schema int       `json:"schema"`
	Cells  []lb.Cell `json:"cells"`
}

// WriteMatrix writes matrix.json into dir.
func WriteMatrix(dir string, cells []lb.Cell) error {
	return writeJSON(filepath.Join(dir, matrixFile), MatrixFile{schema, cells})
}

// NewMatrixFile is the content of matrix.json for these cells.
func NewMatrixFile(cells []lb.Cell) MatrixFile { return MatrixFile{schema, cells} }
