package run_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
)

// TestClocksApart: workers whose hosts have clocks of their own, which drift, are compared with the runner all the
// time, whatever a fault does to them: what is measured holds how they really differ, and the run reads as it would.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lock, fault string
		want        lb.Outcome
		recorders   int
		most        time.Duration // error
	}{
		{setpx, "none", lb.Safe, 2, 50 * time.Millisecond},
		{setpx, "pause-holder", lb.Check, 2, 50 * time.Millisecond},
		{setpx, "kill-holder", lb.Safe, 2, 50 * time.Millisecond},
		{setpx, "restart-holder", lb.Safe, 3, 50 * time.Millisecond},
	} {
		beside(t, tt.lock+" "+tt.fault, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			res, ix, err := doIn(t, dir, tt.lock, tt.fault, counter, func(p *history.Plan) { p.Clocks = history.Apart })
			if err != nil || res.Outcome != tt.want {
				t.Errorf("%s (%s), %v", res.Outcome, res.Reason, err)
			}
			if err := time.Duration(ix.Error); ix.Clocks != tt.recorders || err == 0 || err > tt.most {
				t.Errorf("%d clocks, which err by %v", ix.Clocks, err)
			}
			r, err := rundir.OpenRun(dir)
			if err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(r.EventsFile("w*"))
			if err != nil || len(files) != tt.recorders {
				t.Fatal(files, err)
			}
			for _, file := range files {
				told, err := history.ClockOf(file)
				if err != nil {
					t.Fatal(err)
				}
				recorder, _, _ := strings.Cut(filepath.Base(file), ".")
				truth, own := run.TrueClock(r.Plan, recorder)
				if !own || !told.Holds(truth) {
					t.Errorf("%s: measured %+v, and it is %+v", file, told, truth)
				}
				if told.Error /= 1000; told.Holds(truth) { // half a trip is more than that
					t.Errorf("%s: a bound of %v would hold, too", file, told.Error)
				}
			}
		})
	}
}
