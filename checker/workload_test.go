package checker

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestWorkload: what a workload itself finds counts where no copy of the store shows it,
// and its failure is not the run's.
func TestWorkload(t *testing.T) {
	oversold := func(*history.Index) Layer {
		return Layer{Verdict: Invalid, Summary: "oversold", Findings: []Finding{{Sentence: "one too many"}}, Count: 1}
	}
	sound := func(*history.Index) Layer { return Layer{Verdict: Valid} }
	for _, tt := range []struct {
		name   string
		story  *story
		own    func(*history.Index) Layer
		want   lb.Outcome
		reason string
	}{
		{"it agrees", tell(history.Plan{}).busy(10, 12), sound, lb.Safe, ""},
		{"only it saw harm", tell(history.Plan{}).busy(10, 12), oversold, lb.Broken, "one too many"},
		{"the copies show what would have saved it", late(history.Plan{}, skipped, 0), oversold, lb.Check, "overstay: "},
		{"it panics", tell(history.Plan{}).busy(10, 12), func(*history.Index) Layer { panic("at the till") }, lb.Inconclusive, "workload is undecided"},
	} {
		r := Options{Workload: tt.own}.Check(t.Context(), tt.story.plan, indexed(tt.story.events))
		if r.Outcome != tt.want || !strings.HasPrefix(r.Reason, tt.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", tt.name, r.Outcome, r.Reason, tt.want, tt.reason)
		}
	}
}
