package serve

import (
	"strings"
	"testing"
)

// TestMetrics: Prometheus is told what the list shows, each directory once.
func TestMetrics(t *testing.T) {
	s := site(t, everything(t))
	_, text := get(t, s.URL+"/metrics")
	for _, want := range []string{
		"# TYPE lockbench_cells gauge\n",
		`lockbench_directories{kind="run",state="done"} 1`, `lockbench_directories{kind="gate",state="done"} 1`,
		`lockbench_directories{kind="matrix",state="damaged"} 1`, `lockbench_directories{kind="benchmark",state="done"} 1`,
		`lockbench_cells{outcome="CHECK"} 1`, `lockbench_cells{outcome="SAFE"} 1`, `lockbench_cells{outcome="BROKEN"} 1`,
		"lockbench_runs 4", "lockbench_runs_with_violation 2", "lockbench_runs_inconclusive 1",
	} {
		if !strings.Contains("\n"+text, "\n"+want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
