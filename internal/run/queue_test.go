package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

// row is a lock of which nothing but the name matters.
type row struct {
	lb.Impl
	name string
}

func (r row) Info() lb.Info { return lb.Info{Name: r.name, Topologies: []string{"none"}} }

// threeRows is a matrix of three locks without a fault, whose runs are only thought (see
// [thought]).
func threeRows(t *testing.T) *Matrix {
	t.Helper()
	c := catalog.Catalog{Faults: faults.All()[:1], Workloads: workloads.All(), Topologies: backends.Topologies(), Labs: []lab.Driver{lab.Local()}}
	for _, name := range []string{"safe", "half", "unclear"} {
		c.Locks = append(c.Locks, row{name: name})
	}
	return &Matrix{Catalog: c, Algorithms: c.Locks, Faults: c.Faults, Workload: c.Workloads[0], Jobs: 1,
		Base: history.Plan{Lab: "local", Seed: 100}}
}

// TestGroup: the title above a row is told in its cells, before there is a run and after it.
func TestGroup(t *testing.T) {
	m := threeRows(t)
	m.Catalog.Groups = map[string]string{"safe": "Ours"}
	planned, plan := m.planned(m.Algorithms[0], m.Faults[0]), m.For(m.Algorithms[0], m.Faults[0], 0)
	plan.About = about(m.Catalog, plan)
	for what, c := range map[string]checker.Cell{"planned": planned, "pending": rundir.Pending(planned), "done": checker.CellOf([]checker.Result{thought(plan)})} {
		if c.Group != "Ours" {
			t.Errorf("%s: the title is %q", what, c.Group)
		}
	}
}

func thought(plan history.Plan) checker.Result {
	r := checker.Result{Plan: plan, Outcome: lb.Safe}
	switch {
	case plan.Algorithm == "half" && plan.Seed%2 == 1:
		r.Outcome = lb.Broken
	case plan.Algorithm == "unclear":
		r.Outcome = lb.Inconclusive
	}
	return r
}

// queued is the matrix's new queue, with what it has begun, in order. Its runs are thought.
func queued(t *testing.T, m *Matrix, shard rundir.Shard) (q *queue, begun func() []string) {
	t.Helper()
	var cells []checker.Cell
	for _, a := range m.Algorithms {
		cells = append(cells, m.planned(a, m.Faults[0]))
	}
	out, err := rundir.CreateMatrix(filepath.Join(t.TempDir(), "m"), cells, m.Runs)
	if err != nil {
		t.Fatal(err)
	}
	out.Until, out.Shard = m.Until, shard
	m.divide(out)
	q = newQueue(m, out, nil)
	var list []string
	q.one = func(_ context.Context, _ string, plan history.Plan, _ func(string)) (checker.Result, error) {
		q.mu.Lock()
		defer q.mu.Unlock()
		list = append(list, fmt.Sprintf("%s/%d", plan.Algorithm, plan.Seed-m.Base.Seed+1))
		return thought(plan), nil
	}
	return q, func() []string { return list }
}

// TestRunsInTurn: every cell has its first run before any has its second.
func TestRunsInTurn(t *testing.T) {
	m := threeRows(t)
	m.Runs = 2
	q, begun := queued(t, m, rundir.Shard{})
	if err := errors.Join(q.work(t.Context(), 1)...); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(begun(), " "); got != "safe/1 half/1 unclear/1 safe/2 half/2 unclear/2" {
		t.Error(got)
	}
}

// TestUntil: a cell goes on until its interval is narrow, the doubtful longest, and one
// that never proves anything has an end, too.
func TestUntil(t *testing.T) {
	for _, jobs := range []int{1, 4} {
		m := threeRows(t)
		m.Runs, m.Until = 2, 0.4
		q, begun := queued(t, m, rundir.Shard{})
		var last Progress
		m.Watch = func(p Progress) { last = p }
		if err := errors.Join(q.work(t.Context(), jobs)...); err != nil {
			t.Fatal(err)
		}
		runs := map[string]int{}
		for _, b := range begun() {
			name, _, _ := strings.Cut(b, "/")
			runs[name]++
		}
		// The interval of 0 of n is narrower than 0.4 from 6 on, of n/2 of n from 21 on
		// (20 of which 10 broke: 0.401).
		if runs["safe"] != 6 || runs["half"] < 19 || runs["half"] > 21 || runs["unclear"] != 21 {
			t.Errorf("%d at a time: %v", jobs, runs)
		}
		for _, c := range q.out.Cells {
			if wide := c.Share.High-c.Share.Low >= 0.4; wide != (c.Algorithm == "unclear") {
				t.Errorf("%s: %v", c.Algorithm, c.Share)
			}
		}
		if n := len(begun()); last.Done != n || last.Total != n {
			t.Errorf("told of %d of %d runs, want %d", last.Done, last.Total, n)
		}
	}
}

// TestBudget: no run begins when it is spent, and until then the doubtful come first.
func TestBudget(t *testing.T) {
	m := threeRows(t)
	m.Runs, m.Budget = 1, time.Hour
	q, begun := queued(t, m, rundir.Shard{})
	one := q.one
	q.one = func(ctx context.Context, dir string, plan history.Plan, tell func(string)) (checker.Result, error) {
		if len(begun()) == 29 {
			q.close()
		}
		return one(ctx, dir, plan, tell)
	}
	if err := errors.Join(q.work(t.Context(), 1)...); err != nil {
		t.Fatal(err)
	}
	list := begun()
	if len(list) != 30 || !slices.Equal(list[:3], []string{"safe/1", "half/1", "unclear/1"}) || list[3] != "unclear/2" {
		t.Errorf("%d runs: %v", len(list), list)
	}
}

// TestShards: each run is one shard's, with the same number and seed as in one piece.
func TestShards(t *testing.T) {
	for _, until := range []float64{0, 0.4} {
		m := threeRows(t)
		m.Runs, m.Until = 4, until
		whole, begun := queued(t, m, rundir.Shard{})
		whole.work(t.Context(), 1)
		var parts []string
		for nth := 1; nth <= 2; nth++ {
			m.Shard = rundir.Shard{Nth: nth, Of: 2}
			q, part := queued(t, m, m.Shard)
			q.work(t.Context(), 1)
			parts = append(parts, part()...)
			for i, c := range q.out.Cells {
				want := q.out.PlannedOf(i)
				if c.Planned != want || c.Runs < want || (c.Reason == rundir.Elsewhere) != (want == 0) {
					t.Errorf("shard %s: %s has %d of %d (%d) runs: %s", m.Shard, c.Algorithm, c.Runs, c.Planned, want, c.Reason)
				}
			}
		}
		all := slices.Sorted(slices.Values(begun()))
		if slices.Sort(parts); !slices.Equal(parts, all) {
			t.Errorf("until %v: the shards have\n%v\nin one piece there are\n%v", until, parts, all)
		}
		m.Shard = rundir.Shard{}
	}
}

func TestParseShard(t *testing.T) {
	for _, bad := range []string{"", "1", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2"} {
		if s, err := rundir.ParseShard(bad); err == nil {
			t.Errorf("%q is %v", bad, s)
		}
	}
	if s, err := rundir.ParseShard("2/3"); err != nil || s.String() != "2/3" || s.Has(0) || !s.Has(1) || s.Has(2) || !s.Has(4) {
		t.Errorf("%v, %v", s, err)
	}
}
