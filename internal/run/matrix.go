package run

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/workloads"
)

// Matrix is a set of algorithms under a set of faults.
type Matrix struct {
	Catalog    catalog.Catalog
	Algorithms []lb.Impl
	Faults     []faults.Fault
	Workload   workloads.Workload
	// Base is the plan of every run, save for what differs from cell to cell. Its
	// seed is that of each cell's first run; later runs count up from it, whoever does
	// them and in whatever order.
	Base history.Plan
	// Runs of each cell, and Jobs, the number of runs at the same time.
	Runs, Jobs int
	// Until, if it is not 0, is how narrow the interval of each cell's [checker.Share] is
	// to become by more runs than Runs. A cell of which most runs prove nothing ends after
	// as many runs as the most doubtful share would take.
	Until float64
	// Budget, if it is not 0, is how long runs are begun. Without Until they are as many as
	// there is time for, always of the most doubtful cell.
	Budget time.Duration
	// Shard is the part of the runs to do.
	Shard rundir.Shard
	// ForGate says that a gate has it done.
	ForGate bool
	// Watch, if it is not nil, is told what happens, from one goroutine at a time.
	Watch func(Progress)
}

// Progress is what has just happened in a matrix.
type Progress struct {
	Algorithm, Fault string
	Run              int // from 1
	// Phase is what the run is at now, see [Watched]; "" when it has ended.
	Phase string
	// Cell is as it is now, Whole if no more runs of it are to come.
	Cell  checker.Cell
	Whole bool
	// Done runs of Total, as far as that is known: what a cell has shown may make it more
	// or less.
	Done, Total int
}

// The default lease is a second, or what the fault or the lock needs, and some more: a TTL in whole seconds, or one
// that is rounded to them, would hide where every lease is one.
const (
	leastTTL = time.Second
	odd      = 300 * time.Millisecond
)

// longWork is long enough for a lease that is not renewed to end, and for others to be granted the lock.
const longWork = "2.5ttl"

// For returns the base plan made one of this algorithm and fault.
func (m *Matrix) For(impl lb.Impl, fault faults.Fault, n int) history.Plan {
	info, plan := impl.Info(), m.Base
	work := m.Work(info)
	if plan.Exec != nil && plan.Exec.Name != info.Name {
		plan.Exec = nil
	}
	plan.Algorithm, plan.Fault, plan.Workload = info.Name, fault.Name, work.Name
	plan.Traits, plan.Expect, plan.Jobs = fault.Claims(info.Traits), work.Expected(info, plan.Fault), max(1, m.Jobs)
	// Where a program of the user's is tried, the locks beside it are yardsticks.
	if held := m.Base.Exec == nil || plan.Exec != nil; held && plan.Expect == nil && plan.Require != "" {
		plan.Expect = lb.Required(plan.Fault, plan.Require)
	}
	plan.Evidence, plan.Guarded, plan.GivesUp = work.Evidence, work.Guarded, work.GivesUp
	plan.Seed += uint64(n)
	if fault.Mix == nil || plan.FaultsAtOnce == 1 {
		plan.FaultsAtOnce = 0
	}
	if plan.Topology == "" {
		plan.Topology = m.where(plan, info.Topologies, fault)
	}
	if t, err := m.Catalog.Topology(plan.Topology); err == nil {
		own := catalog.Own(plan).For(t)
		plan.ServerBinary, plan.ServerImage = own.Binary, own.Image
	}
	if plan.TTL == 0 {
		plan.TTL = max(leastTTL, fault.MinTTL, info.MinTTL, m.succession(plan, fault)) + odd
	}
	plan.Duration = max(plan.Duration, work.AtLeast(plan.TTL))
	plan.Brief = m.brief(fault, plan.TTL)
	if plan.Work = cmp.Or(plan.Work, longWork); !work.Long || !info.Outlasts() {
		plan.Work = ""
	}
	if long, err := worker.LongWork(plan); err == nil && long > 0 && fault.Family == faults.Nothing { // any other takes its time
		plan.Duration = max(plan.Duration, workloads.LongAtLeast(long))
	}
	return plan
}

// Work is what clients do with the lock: what they do in the whole matrix, save that where this is the first workload of the list,
// and the lock a semaphore, it is the first that is for one.
func (m *Matrix) Work(lock lb.Info) workloads.Info {
	work := m.Workload.Info()
	if all := m.Catalog.Workloads; work.Available(lock) != nil && len(all) > 0 && work.Name == all[0].Info().Name {
		for _, w := range all {
			if other := w.Info(); other.Needs.Semaphore() && other.Available(lock) == nil {
				return other
			}
		}
	}
	return work
}

// succession is how long a lease has to last at least where the fault wants it to outlive the leader, and the servers take
// their time to find another.
func (m *Matrix) succession(plan history.Plan, fault faults.Fault) time.Duration {
	t, err := m.Catalog.Topology(plan.Topology)
	if err != nil || !t.Elects() || fault.Trouble != history.Failover || fault.MinTTL == 0 {
		return 0
	}
	return t.Kind.Elects
}

// brief reports whether the fault was told to last less than a tenth of a lease, and lasts a lease
// and longer where nobody says for how long. A death is none the less one, and what servers do on
// their own does not ask for leases.
func (m *Matrix) brief(fault faults.Fault, ttl time.Duration) bool {
	if !fault.Repeats && slices.ContainsFunc(fault.Mix, func(one faults.Fault) bool { return m.brief(one, ttl) }) {
		return true // a list is no better than what it is made of
	}
	name, _, told := strings.Cut(fault.Name, "/")
	alone := fault.Family == faults.Servers || fault.Trouble == history.Death
	if !told || len(fault.Mix) > 0 || alone && !fault.Drags || fault.Lasts.Of(ttl) >= ttl/10 {
		return false
	}
	usual, err := m.Catalog.Fault(name)
	return err == nil && (fault.Drags || usual.Lasts.Of(ttl) >= ttl)
}

// where is the topology of the algorithm's that the fault strikes: the first that it prefers,
// or else that it can strike. A lock that runs on one server meets a failover where there is
// something to fail over to, and the end of a session where another server may know of it later.
func (m *Matrix) where(plan history.Plan, topologies []string, fault faults.Fault) string {
	var can []string
	for _, plan.Topology = range topologies {
		if m.Available(plan, fault) != nil {
			continue
		}
		setting, err := m.Catalog.Setting(plan)
		if err == nil && (fault.Prefers == nil || fault.Prefers(setting) == nil) {
			return plan.Topology
		}
		can = append(can, plan.Topology)
	}
	return append(can, topologies...)[0]
}

// Available says why there is no run of the plan: the workload asks for what the lock
// has not, or the fault can't strike; or nil.
func (m *Matrix) Available(plan history.Plan, fault faults.Fault) error {
	setting, err := m.Catalog.Setting(plan)
	if err != nil {
		return err
	}
	if err := m.Catalog.Ready(setting); err != nil {
		return err
	}
	if err := setting.Workload.Available(setting.Algorithm); err != nil {
		return err
	}
	return fault.Available(setting)
}

// Run does all runs in the matrix's new directory. All cells are returned, also those
// whose runs failed or were not done; the error then says why.
func (m *Matrix) Run(ctx context.Context, dir string) ([]checker.Cell, error) {
	// Held before there is anything in it: a matrix that nobody works at reads interrupted.
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	defer rundir.Hold(dir)()
	out, err := m.create(dir)
	if err != nil {
		return nil, err
	}
	return m.do(ctx, out, nil)
}

// create makes the directory, in which no run is done yet.
func (m *Matrix) create(dir string) (*rundir.Matrix, error) {
	var planned []checker.Cell
	for _, impl := range m.Algorithms {
		for _, f := range m.Faults {
			planned = append(planned, m.planned(impl, f))
		}
	}
	out, err := rundir.CreateMatrix(dir, planned, m.Runs)
	if err != nil {
		return nil, err
	}
	base := m.Base
	base.Made = time.Now().Truncate(time.Second)
	out.Until, out.Shard, out.ForGate, out.Plan = m.Until, m.Shard, m.ForGate, &base
	m.divide(out)
	return out, out.Save()
}

// planned is the cell before any run.
func (m *Matrix) planned(impl lb.Impl, fault faults.Fault) checker.Cell {
	plan := m.For(impl, fault, 0)
	c := checker.Cell{Algorithm: plan.Algorithm, Group: m.Catalog.Groups[plan.Algorithm], Fault: plan.Fault, Seed: plan.Seed}
	if err := m.Available(plan, fault); err != nil {
		c.Outcome, c.Reason, c.OutageMS, c.FirstViolationMS = lb.NotAvailable, err.Error(), -1, -1
	}
	return c
}

// divide says of each cell how much of it is this shard's.
func (m *Matrix) divide(out *rundir.Matrix) {
	if out.Shard.Of == 0 {
		return
	}
	for i := range out.Cells {
		c := &out.Cells[i]
		if c.Outcome == lb.NotAvailable {
			continue
		}
		c.Planned = out.PlannedOf(i)
		switch {
		case c.Runs == 0 && c.Planned == 0:
			c.Reason = rundir.Elsewhere
		case c.Runs == 0:
			c.Reason = rundir.NotRun
		}
	}
}

// do does what is missing of the runs. Those of each cell that were done before are given
// by their numbers, from 0.
func (m *Matrix) do(ctx context.Context, out *rundir.Matrix, before []map[int]checker.Result) ([]checker.Cell, error) {
	defer rundir.Hold(out.Dir)()
	q := newQueue(m, out, before)
	if m.Budget > 0 {
		stop := time.AfterFunc(m.Budget, q.close)
		defer stop.Stop()
	}
	stop := context.AfterFunc(ctx, q.close)
	defer stop()
	errs := q.work(ctx, max(1, m.Jobs))
	if err := ctx.Err(); err != nil {
		return out.Cells, err
	}
	return out.Cells, errors.Join(errs...)
}
