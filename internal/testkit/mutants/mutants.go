// Package mutants shows that lockbench is not blind, and not mad either: locks
// with one step broken must be convicted by the mechanism that breaks them, and
// the correct locks that they were made of must be acquitted under the same
// faults.
//
// Mutants live in test code, beside the algorithm that they are made of, where no
// list of algorithms can show them. The program of such a test acts as lockbench
// with that list instead of its own.
package mutants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

// Mutant is a correct algorithm with one step broken.
type Mutant struct {
	Impl lb.Impl
	// Of is the correct algorithm.
	Of lb.Impl
	// Fault under which the mutant must be convicted and the other acquitted.
	Fault string
	// Outcomes and By are the cells and the words of the reason that convict.
	Outcomes []lb.Outcome
	By       string
	// Clients of a run; a mutant that only a crowd gives away wants more than most.
	Clients int
	// OrBy are words that convict as well: which of two it is, an instant decides.
	OrBy string
	// Workload is what clients do with the mutant, OfWorkload what they do with the
	// other; "" is the first of all.
	Workload, OfWorkload string
	// Work is the plan's long work, "" for that of any run.
	Work string
	// TTL is the lease, 0 for that of any run under the fault.
	TTL time.Duration

	orders *orders // nil where the sequence of moves alone does not
}

// Outage as the By of a mutant: nobody could get the lock for about as long as a
// lease, although nothing went wrong but the mutant.
const Outage = "outage"

// New is a mutant as one line of a table.
func New(impl, of lb.Impl, fault, by string, outcomes ...lb.Outcome) Mutant {
	return Mutant{Impl: impl, Of: of, Fault: fault, Outcomes: outcomes, By: by, Clients: 6}
}

// InCrowd is the mutant among so many clients, at least three.
func (mu Mutant) InCrowd(clients int) Mutant {
	mu.Clients = clients
	return mu
}

// Leased is the mutant, and the other, with leases of ttl.
func (mu Mutant) Leased(ttl time.Duration) Mutant {
	mu.TTL = ttl
	return mu
}

// Brisk is the mutant, and the other, without long work: who waits for longer than its lease knows by its
// clock what the mutant forgets to look at.
func (mu Mutant) Brisk() Mutant {
	mu.Work = history.NoWork
	return mu
}

// Or is the mutant that other words of the reason convict as well.
func (mu Mutant) Or(by string) Mutant {
	mu.OrBy = by
	return mu
}

// Doing is the mutant that the work convicts, with the same work for the other.
func (mu Mutant) Doing(workload string) Mutant {
	mu.Workload, mu.OfWorkload = workload, workload
	return mu
}

// Beside is the mutant of which the other does another work.
func (mu Mutant) Beside(workload string) Mutant {
	mu.OfWorkload = workload
	return mu
}

// runsVar says how many runs each mutant gets; by default one.
const runsVar = "LOCKBENCH_MUTANT_RUNS"

// Main is the TestMain of packages with mutants. It serves those of
// [labtest.Main], too.
func Main(m *testing.M, all []Mutant) {
	lab.Direct()
	testkit.Main(m, func(args []string) int { return cli.Main(args, known(all)) })
}

// known is the catalogue of the mutants and what they were made of.
func known(all []Mutant) cli.Catalog {
	var locks []lb.Impl
	names := map[string]bool{} // several mutants are made of one
	for _, mu := range all {
		for _, l := range []lb.Impl{mu.Impl, mu.Of} {
			if name := l.Info().Name; !names[name] {
				names[name] = true
				locks = append(locks, l)
			}
		}
	}
	return cli.Catalog{Locks: locks, Faults: faults.All(), More: faults.More(), Workloads: workloads.All(),
		Topologies: backends.Topologies(), Labs: []lab.Driver{lab.Local()}}
}

// mostAcquittals is under how many of the faults make test has each correct lock acquitted; under the others it is a day later.
const mostAcquittals = 3

// Run puts each mutant, and what it was made of, under its fault in the local lab.
func Run(t *testing.T, all []Mutant) {
	t.Helper()
	c := court{catalog: known(all), runs: 1, dir: t.TempDir()}
	c.needLab(t, all)
	if n, err := strconv.Atoi(os.Getenv(runsVar)); err == nil {
		c.runs = n
	}
	var wg sync.WaitGroup
	tried := map[string]bool{} // correct algorithms, by fault: several mutants are made of one
	acquittals := map[string]int{}
	for _, mu := range all {
		if mu.orders != nil && (mu.orders.most <= mostWalked || testkit.All()) {
			wg.Go(func() { c.explore(t, mu, mu.Impl) })
			if of := fmt.Sprint(mu.Of.Info().Name, mu.orders.bounds, mu.orders.most); !tried[of] {
				tried[of] = true
				wg.Go(func() { c.explore(t, mu, mu.Of) })
			}
		}
		wg.Go(func() { c.try(t, mu, mu.Impl) })
		name := mu.Of.Info().Name
		if of := fmt.Sprint(name, mu.Fault, mu.Clients, mu.OfWorkload, mu.TTL, mu.Work); !tried[of] && (acquittals[name] < mostAcquittals || testkit.All()) {
			tried[of] = true
			acquittals[name]++
			wg.Go(func() { c.try(t, mu, mu.Of) })
		}
	}
	wg.Wait()
	t.Logf("convicted %d of %d runs of mutants, acquitted %d of %d runs of correct algorithms",
		c.convicted, c.mutants, c.acquitted, c.correct)
}

func (c *court) needLab(t *testing.T, all []Mutant) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var kinds []lab.Kind
	for _, mu := range all {
		topology, err := c.catalog.Topology(mu.Of.Info().Topologies[0])
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, topology.Kind)
	}
	testkit.Need(t, "the local lab with the servers", c.catalog.Labs[0].Ready(ctx, kinds))
}

// court counts the verdicts.
type court struct {
	catalog cli.Catalog
	runs    int
	dir     string

	mu                                     sync.Mutex
	mutants, convicted, correct, acquitted int
}

// try runs impl under the mutant's fault and holds the verdict against what it is.
func (c *court) try(t *testing.T, mu Mutant, impl lb.Impl) {
	guilty := impl.Info().Name == mu.Impl.Info().Name
	var wg sync.WaitGroup
	for n := range c.runs {
		wg.Go(func() {
			free, err := c.place(mu)
			if err != nil {
				t.Error(err)
				return
			}
			defer free()
			res, err := c.once(mu, impl, n, 0)
			for again := 1; again < 3 && mu.again(res, err, guilty); again++ {
				t.Logf("%s × %s on a busy machine: %s; again", impl.Info().Name, mu.Fault, res.Outcome)
				res, err = c.once(mu, impl, n, again)
			}
			if err == nil && guilty {
				err = mu.convicts(res)
			} else if err == nil {
				err = acquits(res)
			}
			if err != nil {
				t.Errorf("%s × %s × %s, seed %d: %v", impl.Info().Name, mu.Fault, res.Plan.Workload, n+1, err)
			}
			c.count(guilty, err == nil)
		})
	}
	wg.Wait()
}

// again reports whether the run shows nothing, since the machine was too busy. It may save a mutant from being seen; what
// it does to a right lock is looked at, unless it kept the run from doing what was planned.
func (mu Mutant) again(res checker.Result, err error, guilty bool) bool {
	if err != nil {
		return strings.Contains(err.Error(), run.TooBusy)
	}
	return guilty && mu.convicts(res) != nil && testkit.Busy(context.Background())
}

// place waits for a lab of the mutant's servers.
func (c *court) place(mu Mutant) (free func(), err error) {
	topology, err := c.catalog.Topology(mu.Of.Info().Topologies[0])
	if err != nil {
		return nil, err
	}
	return testkit.Take(context.Background(), labtest.Places(topology))
}

func (c *court) once(mu Mutant, impl lb.Impl, n, again int) (checker.Result, error) {
	fault, err := c.catalog.Fault(mu.Fault)
	if err != nil {
		return checker.Result{}, err
	}
	name := mu.OfWorkload
	if impl.Info().Name == mu.Impl.Info().Name {
		name = mu.Workload
	}
	work := c.catalog.Workloads[0]
	if name != "" {
		if work, err = c.catalog.Workload(name); err != nil {
			return checker.Result{}, err
		}
	}
	m := run.Matrix{Catalog: c.catalog, Workload: work, Base: history.Plan{
		Lab: c.catalog.Labs[0].Name, Clients: mu.Clients, Processes: 3, Duration: 2 * time.Second, TTL: mu.TTL, Work: mu.Work, Seed: 1}}
	plan := m.For(impl, fault, n)
	return run.Execute(context.Background(), c.catalog,
		filepath.Join(c.dir, rundir.Portable(fmt.Sprintf("%d-%d-%d-%s-%s-%s", n, again, plan.Clients, plan.Algorithm, plan.Fault, plan.Workload))), plan)
}

func (c *court) count(guilty, right bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	total, good := &c.correct, &c.acquitted
	if guilty {
		total, good = &c.mutants, &c.convicted
	}
	*total++
	if right {
		*good++
	}
}

// expected are the claims that were not kept: those of every lock, and that its tokens rise.
func expected(res checker.Result) (all []string) {
	for _, c := range res.Claims {
		if c.Claim == checker.LayerAnswers || c.Claim == checker.LayerTidy || c.Fence() {
			all = append(all, c.Claim+": "+c.How)
		}
	}
	return all
}

// convicts wants the outcome, and that the reason, or what is expected of every lock, names the mechanism.
func (mu Mutant) convicts(res checker.Result) error {
	said := strings.Join(append(expected(res), res.Reason), "; ")
	named := strings.Contains(said, mu.By) || (mu.By == Outage || mu.OrBy == Outage) && isOutage(res) || mu.OrBy != "" && strings.Contains(said, mu.OrBy)
	if named && slices.Contains(mu.Outcomes, res.Outcome) {
		return nil
	}
	return fmt.Errorf("not convicted: %s (%s), outage %.0f ms, want %v by %s", res.Outcome, said, res.OutageMS, mu.Outcomes, mu.By)
}

// acquits wants a run that proves something, and nothing that is the lock's own
// fault. That a holder outlives its lease is not, nor that a lock which was forgotten stays taken for one.
func acquits(res checker.Result) error {
	switch {
	case len(expected(res)) > 0:
		return fmt.Errorf("not acquitted: %s", res.Claims)
	case res.Mechanism == lb.DoubleGrant, res.Mechanism == lb.Ghost,
		res.Outcome == lb.Broken && res.Mechanism == "", // a promise of the workload broke
		strings.Contains(res.Reason, "can't be trusted"), res.Outcome == lb.Inconclusive,
		res.Plan.Fault == "none" && res.Plan.Workload != (workloads.NeverReleases{}).Info().Name && isOutage(res):
		return fmt.Errorf("not acquitted: %s (%s), outage %.0f ms", res.Outcome, res.Reason, res.OutageMS)
	}
	return nil
}

func isOutage(res checker.Result) bool {
	return res.OutageMS > 0.9*float64(res.Plan.TTL)/float64(time.Millisecond)
}
