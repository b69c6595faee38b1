package serve

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

// tally is what the cells of a directory add to the metrics.
type tally struct {
	cells                          map[lb.Outcome]int
	broken                         int // cells that are not as declared
	runs, violations, inconclusive int
}

func tallyOf(cells []checker.Cell) tally {
	t := tally{cells: map[lb.Outcome]int{}}
	for _, c := range cells {
		if c.Runs == 0 {
			continue
		}
		t.cells[c.Outcome]++
		if c.Promise == checker.PromiseBroken {
			t.broken++
		}
		t.runs, t.violations, t.inconclusive = t.runs+c.Runs, t.violations+c.Violations, t.inconclusive+c.Inconclusive
	}
	return t
}

// metrics answers Prometheus, in its text format, with what the list knows.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	all, err := s.list.entries()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	directories, cells := map[string]int{}, map[string]int{}
	var sum tally
	for _, e := range all {
		kind := "unknown"
		if len(e.Kinds) > 0 {
			kind, _, _ = strings.Cut(e.Kinds[0], ",") // without the shard
		}
		directories[fmt.Sprintf("{kind=%q,state=%q}", kind, e.State)]++
		for o, n := range e.tally.cells {
			cells[fmt.Sprintf("{outcome=%q}", o)] += n
		}
		sum.broken, sum.runs = sum.broken+e.tally.broken, sum.runs+e.tally.runs
		sum.violations, sum.inconclusive = sum.violations+e.tally.violations, sum.inconclusive+e.tally.inconclusive
	}
	var b bytes.Buffer
	gauge := func(name, help string, of map[string]int) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
		for _, labels := range slices.Sorted(maps.Keys(of)) {
			fmt.Fprintf(&b, "%s%s %d\n", name, labels, of[labels])
		}
	}
	gauge("lockbench_directories", "Directories of the list, by kind and state; unknown is what is not of lockbench, or has no page, as what facts leaves.", directories)
	gauge("lockbench_cells", "Cells with a run, by outcome; a single run is a cell.", cells)
	gauge("lockbench_cells_not_as_declared", "Cells that are not as their lock declares.", map[string]int{"": sum.broken})
	gauge("lockbench_runs", "Runs in these cells.", map[string]int{"": sum.runs})
	gauge("lockbench_runs_with_violation", "Runs in which the lock broke, somebody was hurt, or the lock stayed taken.", map[string]int{"": sum.violations})
	gauge("lockbench_runs_inconclusive", "Runs that proved nothing.", map[string]int{"": sum.inconclusive})
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // whoever asked may be gone
}
