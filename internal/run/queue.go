package run

import (
	"context"
	"maps"
	"slices"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/stat"
)

// queue says which run comes next: the first of every cell, then the second, and so on up
// to the number that was asked for; then always one of the cell of which least is known.
type queue struct {
	m   *Matrix
	out *rundir.Matrix
	one func(ctx context.Context, dir string, plan history.Plan, tell func(string)) (checker.Result, error)

	mu     sync.Mutex
	more   *sync.Cond // a run has ended, or the queue was closed
	closed bool
	cells  []*slot
	level  int // all runs below this number were begun
	done   int
	errs   []error
}

// slot is one cell of the matrix.
type slot struct {
	impl    lb.Impl
	fault   faults.Fault
	at      int // in the matrix
	results map[int]checker.Result
	begun   map[int]bool // by number, also those that have ended
	going   int
}

func newQueue(m *Matrix, out *rundir.Matrix, before []map[int]checker.Result) *queue {
	q := &queue{m: m, out: out}
	q.one = func(ctx context.Context, dir string, plan history.Plan, tell func(string)) (checker.Result, error) {
		return Watched(ctx, m.Catalog, dir, plan, tell)
	}
	q.more = sync.NewCond(&q.mu)
	for _, impl := range m.Algorithms {
		for _, f := range m.Faults {
			s := &slot{impl: impl, fault: f, at: len(q.cells), results: map[int]checker.Result{}, begun: map[int]bool{}}
			if before != nil {
				s.results = before[s.at]
			}
			for n := range s.results {
				s.begun[n] = true
				q.done++
			}
			q.cells = append(q.cells, s)
		}
	}
	return q
}

// close lets no further run begin.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Broadcast()
}

// work does the runs, so many at a time, until there is no next.
func (q *queue) work(ctx context.Context, jobs int) []error {
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for {
				s, n := q.next()
				if s == nil {
					return
				}
				q.run(ctx, s, n)
			}
		})
	}
	wg.Wait()
	return q.errs
}

// next begins a run, and waits where what comes next depends on the runs that go on. It is
// nil if nothing more is to be done.
func (q *queue) next() (s *slot, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return nil, 0
		}
		if s, n = q.pick(); s != nil {
			s.begun[n] = true
			s.going++
			return s, n
		}
		if !slices.ContainsFunc(q.cells, func(s *slot) bool { return s.going > 0 && q.sequential() }) {
			return nil, 0
		}
		q.more.Wait()
	}
}

// sequential: how many runs there will be depends on what they show.
func (q *queue) sequential() bool { return q.m.Until > 0 || q.m.Budget > 0 }

func (q *queue) pick() (*slot, int) {
	for ; q.level < q.m.Runs; q.level++ {
		for _, s := range q.cells {
			if q.possible(s) && q.out.Has(s.at, q.level) && !s.begun[q.level] {
				return s, q.level
			}
		}
	}
	if !q.sequential() {
		return nil, 0
	}
	var most *slot
	widest := 0.0
	for _, s := range q.cells {
		// As if the runs that go on showed what those before them did.
		if width, open := q.doubt(s, s.going); open && width > widest {
			most, widest = s, width
		}
	}
	if most == nil {
		return nil, 0
	}
	n := 0
	for most.begun[n] || !q.out.Has(most.at, n) {
		n++
	}
	return most, n
}

func (q *queue) possible(s *slot) bool { return q.out.Cells[s.at].Outcome != lb.NotAvailable }

// doubt is how wide the interval of the cell would be after so many more runs like those
// before, and whether more runs are wanted of it then.
func (q *queue) doubt(s *slot, more int) (width float64, open bool) {
	if !q.possible(s) || q.out.Shard.Of > 0 && q.m.Until > 0 && !q.out.Has(s.at, 0) {
		return 0, false
	}
	broke, of := 0, 0
	if c := q.out.Cells[s.at]; c.Share != nil {
		broke, of = c.Share.Broke, c.Share.Of
	}
	if of > 0 {
		broke += (more*broke + of/2) / of
	}
	width = stat.Width(broke, of+more)
	if q.m.Until == 0 {
		return width, true
	}
	return width, width >= q.m.Until && len(s.results)+more < stat.Runs(0.5, q.m.Until)
}

// run does the nth run of a cell.
func (q *queue) run(ctx context.Context, s *slot, n int) {
	_, dir := q.out.RunDir(s.at, n)
	plan := q.m.For(s.impl, s.fault, n)
	res, err := q.one(ctx, dir, plan, func(phase string) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.tell(s, n, phase)
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.more.Broadcast()
	s.going--
	if wasInterrupted(res) { // as if it had not begun
		delete(s.begun, n)
		return
	}
	s.results[n] = res
	q.done++
	q.errs = append(q.errs, err, q.out.Set(s.at, q.merge(s)))
	q.tell(s, n, "")
}

// merge makes the cell of the runs that have been done.
func (q *queue) merge(s *slot) checker.Cell {
	cell := merge(s.results, func(n int) string { dir, _ := q.out.RunDir(s.at, n); return dir })
	cell.Planned = q.out.Cells[s.at].Planned
	return cell
}

// merge makes a cell of results, by their numbers.
func merge(results map[int]checker.Result, dir func(n int) string) checker.Cell {
	var done []checker.Result
	numbers := slices.Sorted(maps.Keys(results))
	for _, n := range numbers {
		done = append(done, results[n])
	}
	cell := checker.CellOf(done)
	cell.Dir = dir(numbers[checker.DecisiveOf(done)])
	return cell
}

func (q *queue) tell(s *slot, n int, phase string) {
	if q.m.Watch == nil {
		return
	}
	q.m.Watch(Progress{Algorithm: s.impl.Info().Name, Fault: s.fault.Name, Run: n + 1, Phase: phase,
		Cell: q.out.Cells[s.at], Whole: phase == "" && s.going == 0 && q.left(s) == 0, Done: q.done, Total: q.total()})
}

// left is how many runs of the cell are still to be done, as far as can be foreseen.
func (q *queue) left(s *slot) int {
	if !q.possible(s) {
		return 0
	}
	left := 0
	for n := range q.m.Runs {
		if _, done := s.results[n]; !done && q.out.Has(s.at, n) {
			left++
		}
	}
	if _, open := q.doubt(s, left); open && q.m.Until > 0 {
		share := 0.0
		if c := q.out.Cells[s.at]; c.Share != nil && c.Share.Of > 0 {
			share = float64(c.Share.Broke) / float64(c.Share.Of)
		}
		left = max(left+1, stat.Runs(share, q.m.Until)-len(s.results))
	}
	return left
}

func (q *queue) total() int {
	total := q.done
	for _, s := range q.cells {
		total += q.left(s)
	}
	return total
}
