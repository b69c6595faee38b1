package explore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/impls"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

func TestMain(m *testing.M) {
	lab.Direct()
	testkit.Main(m, func(args []string) int { return cli.Main(args, catalog()) })
}

func catalog() cli.Catalog {
	var locks []lb.Impl
	names := map[string]bool{}
	add := func(l lb.Impl) {
		if name := l.Info().Name; !names[name] {
			names[name] = true
			locks = append(locks, l)
		}
	}
	for _, s := range smalls() {
		add(s.small)
	}
	add(falseReads())
	add(shy{small{name: "small-shy", requests: []string{"set", "delete"}, traits: leased, acquire: plainSet, release: safeDelete}})
	for _, l := range impls.All() {
		add(l)
	}
	return cli.Catalog{Locks: locks, Faults: faults.All(), More: faults.More(), Workloads: workloads.All(), Topologies: backends.Topologies(), Labs: []lab.Driver{lab.Local()}}
}

func walked(t *testing.T, plan explore.Plan) (*explore.Result, error) {
	t.Helper()
	plan.Topology, plan.Lab, plan.Budget, plan.Seed, plan.Ways = cmp.Or(plan.Topology, "redis"), "local", 60_000, 1, true
	plan.Until = []lb.Outcome{"none of them: what breaks need not be made shorter"}
	return explore.Execute(context.Background(), catalog(), plan, func(explore.Progress) {})
}

// TestPrunedIsAll: the walk that leaves out what is alike ends in all the ways in which every single
// sequence of moves does, and each comes to the same at its worst.
func TestPrunedIsAll(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	topology, err := catalog().Topology("redis")
	testkit.Need(t, "the local lab with Redis", errors.Join(err, lab.Local().Ready(ctx, []lab.Kind{topology.Kind})))
	only := os.Getenv("LOCKBENCH_SMALL")
	for i, c := range smalls() {
		if !c.often && !testkit.All() && only == "" || !strings.Contains(c.name, only) {
			continue
		}
		t.Run(fmt.Sprintf("%d-%s", i, c.name[len("small-"):]), func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, 1)
			few, err := walked(t, explore.Plan{ExploredLock: rundir.ExploredLock{Algorithm: c.name}, Workload: c.work, Bounds: c.Bounds})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d orders, %d ways, %d break it, in %.1f s", c.name, few.Orders(), few.Ways, few.Broken(), few.Seconds)
			if broke := few.Broken() > 0; broke != c.planted {
				t.Errorf("broken by %d of %d orders; planted: %t", few.Broken(), few.Orders(), c.planted)
			}
			whole(t, few)
			most := explore.EverySequence
			if c.levels() == 0 && c.Renewals == 0 && c.Clients == 2 && c.work == "" { // else they are too many
				most = explore.EveryCall
			}
			all, err := walked(t, explore.Plan{ExploredLock: rundir.ExploredLock{Algorithm: c.name}, Workload: c.work, Bounds: c.Bounds, Unpruned: most})
			if err != nil {
				t.Fatal(err)
			}
			whole(t, all)
			t.Logf("%s: of all %d, in %d ways, %d break it, in %.1f s", c.name, all.Orders(), all.Ways, all.Broken(), all.Seconds)
			same(t, few.Worst, all.Worst)
			if all.Orders() < few.Orders() {
				t.Errorf("all are %d orders, and without those that are alike %d", all.Orders(), few.Orders())
			}
		})
	}
}

// TestKeptIsAll: on each server, a walk that goes on from each moment once ends in the ways, and with the
// outcomes, of one that goes on from it as often as it comes.
func TestKeptIsAll(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		lock, topology string
		often          bool
		explore.Bounds
	}{
		{"redis-setpx-lua", "redis", true, within(expiry)},
		// A key without the places of calls makes nine of its ways SAFE that are not: with a second acquisition there is
		// something left to come when the first has been given back, so that the moment is met.
		{"small-renews-away", "redis", false, within(func(b *explore.Bounds) { b.Acquisitions, b.Renewals = 2, 1 })},
		{"redis-setnx-expire", "redis", false, within(crash)},
		{"redis-fenced", "redis", false, within(expiry)},
		{"redis-watchdog", "redis", false, within(crash)},
		{"mysql-insert-ttl", "mariadb", false, within(crash)},
		{"mysql-getlock", "mariadb", false, within(crash)},
		{"etcd-lease", "etcd", false, within(nil)},
		{"zk-sequential", "zookeeper", false, within(nil)},
	} {
		if !c.often && !testkit.All() {
			continue
		}
		t.Run(fmt.Sprintf("%d-%s", i, c.lock), func(t *testing.T) {
			t.Parallel()
			topology, err := catalog().Topology(c.topology)
			testkit.Need(t, "the local lab with "+c.topology, errors.Join(err, lab.Local().Ready(t.Context(), []lab.Kind{topology.Kind})))
			testkit.Share(t, 1)
			few, err := walked(t, explore.Plan{ExploredLock: rundir.ExploredLock{Algorithm: c.lock, Topology: c.topology}, Bounds: c.Bounds})
			if err != nil {
				t.Fatal(err)
			}
			all, err := walked(t, explore.Plan{ExploredLock: rundir.ExploredLock{Algorithm: c.lock, Topology: c.topology}, Bounds: c.Bounds, Unpruned: explore.EveryMoment})
			if err != nil {
				t.Fatal(err)
			}
			whole(t, few)
			whole(t, all)
			same(t, few.Worst, all.Worst)
			t.Logf("%s: %d orders in %.1f s, of %d in %.1f s; %d ways, digest %s", c.lock, few.Orders(), few.Seconds, all.Orders(), all.Seconds, few.Ways, few.Digest)
			if few.Digest != all.Digest || few.Orders() > all.Orders() {
				t.Errorf("digest %s of %d orders, and %s of all %d", few.Digest, few.Orders(), all.Digest, all.Orders())
			}
		})
	}
}

func (c smallCase) levels() int { return c.Expiries + c.Crashes + c.Lost + c.Quits }

func whole(t *testing.T, r *explore.Result) {
	t.Helper()
	for _, l := range r.Levels {
		if l.Share < 1 || l.Astray+l.Cut > 0 {
			t.Errorf("with %d faults %d orders are %.2f of all, %d astray (%s), %d cut", l.Faults, l.Orders, l.Share, l.Astray, l.Why, l.Cut)
		}
	}
}

func same(t *testing.T, few, all map[string]lb.Outcome) {
	t.Helper()
	missing := 0
	for _, way := range slices.Sorted(maps.Keys(all)) {
		if few[way] != all[way] {
			if missing++; missing < 4 {
				t.Errorf("it came to %q, and of all to %s: %q", few[way], all[way], way)
			}
		}
	}
	for way := range few {
		if _, ok := all[way]; !ok {
			t.Errorf("only without those that are alike: %s", way)
		}
	}
	if missing > 0 {
		t.Errorf("%d of %d ways are missing or come to something else", missing, len(all))
	}
}

// falseReads is a lock that says of a request that it only reads, which takes the lock.
func falseReads() small {
	return small{name: "small-false-reads", requests: []string{"get", "delete"}, reads: []string{"get"}, traits: leased, release: safeDelete,
		acquire: func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
			call := s.env.Clock.Mono()
			_, err := s.do(ctx, req, "get", "SET", req.Lock, req.Owner, "NX", "PX", s.env.TTL.Milliseconds())
			return s.taken(req, call, 1, err)
		}}
}

// TestFalseReads: what a lock says of its requests is held against the server.
func TestFalseReads(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	_, err := walked(t, explore.Plan{ExploredLock: rundir.ExploredLock{Algorithm: "small-false-reads"}, Bounds: within(nil)})
	if err == nil || !strings.Contains(err.Error(), "the lock says that its get only reads") {
		t.Errorf("%v", err)
	}
}

// shy is a small lock that now and then can't be opened.
type shy struct{ small }

var opened atomic.Uint64

// Open implements [lb.Impl].
func (s shy) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if opened.Add(1)%20 == 15 {
		return nil, errors.New("too shy")
	}
	return s.small.Open(ctx, env)
}

// TestCantBegin: an order that can't begin is begun again, and costs the others nothing.
func TestCantBegin(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, err := walked(t, explore.Plan{ExploredLock: rundir.ExploredLock{Algorithm: "small-shy"}, Bounds: within(nil)})
	if err != nil {
		t.Fatal(err)
	}
	whole(t, r)
	if r.Orders() < 4 || r.Broken() > 0 {
		t.Errorf("%d orders, %d broken", r.Orders(), r.Broken())
	}
}
