package run_test

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit"
)

// TestStoreInADatabase wants each database's statement to refuse what a holder writes
// after its lease, where nothing else does.
func TestStoreInADatabase(t *testing.T) {
	for _, kind := range backends.Stores() {
		beside(t, kind.Name, func(t *testing.T) {
			var res checker.Result
			var err error
			for range 3 { // a store that a busy machine lets stand still proves nothing
				res, _, err = do(t, "redis-fenced", "pause@before-write", counter, func(p *history.Plan) { p.Store = kind.Name })
				if err != nil || res.Outcome != lb.Inconclusive || !testkit.Busy(t.Context()) {
					break
				}
			}
			if err != nil || res.Outcome != lb.Fence {
				t.Fatalf("%s (%s), %v; want %s", res.Outcome, res.Reason, err, lb.Fence)
			}
			if fenced := res.Copies[checker.CopyFenced]; fenced.Refused == 0 || fenced.Lost != 0 {
				t.Errorf("fenced: %+v, want the late write to be refused, and none lost", fenced)
			}
		})
	}
}
