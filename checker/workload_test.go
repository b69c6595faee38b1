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
	circle := func(*history.Index) Layer {
		return Layer{Verdict: Invalid, Summary: "stuck", Findings: []Finding{{Mechanism: lb.Deadlock, Sentence: "A waits for B"}}, Count: 1}
	}
	taken := func(*history.Index) Layer {
		return Layer{Verdict: Invalid, Summary: "taken", Findings: []Finding{{Mechanism: lb.Ghost, Sentence: "nobody had it"}}, Count: 1}
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
		{"the copies show what would have saved it", late(history.Plan{}, skipped, 0), oversold, lb.Check, "overstay: one too many; "},
		{"it names the cause", late(history.Plan{}, skipped, 0), circle, lb.Stuck, "deadlock: A waits for B; besides it took CHECK: overstay: "},
		{"a lock stayed taken", tell(history.Plan{}).busy(10, 12), taken, lb.Stuck, "ghost: nobody had it"},
		{"a lock stayed taken besides", late(history.Plan{}, landed, 0), taken, lb.Broken, "overstay: "},
		{"it panics", tell(history.Plan{}).busy(10, 12), func(*history.Index) Layer { panic("at the till") }, lb.Inconclusive, "workload is undecided"},
	} {
		r := Options{Workload: tt.own}.Check(t.Context(), tt.story.plan, indexed(tt.story.events))
		if r.Outcome != tt.want || !strings.HasPrefix(r.Reason, tt.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", tt.name, r.Outcome, r.Reason, tt.want, tt.reason)
		}
	}
}

// TestGuarded: where the work needs no lock, two holders are no harm, and are told of; a
// copy that is hurt is harm all the same.
func TestGuarded(t *testing.T) {
	double := func(plan history.Plan) *story {
		return tell(plan).busy(10, 12).granted("w1.c0", "one", 300, 301, 900).granted("w2.c0", "two", 302, 303, 900)
	}
	// Nobody asks while the fault is in force, and somebody works.
	unasked := func(plan history.Plan, work bool) *story {
		s := tell(plan).busy(10, 12).fault(200, 210, true).granted("w1.c0", "works", 189, 190, 900)
		if base := s.read(195, "w1.c0", "works"); work {
			s.write(205, "w1.c0", "works", base, landed, 0)
		}
		return s.release("w1.c0", "works", 211, 212, lb.AnswerOK)
	}
	for _, tt := range []struct {
		name   string
		story  *story
		want   lb.Outcome
		reason string
	}{
		{"nobody asked", unasked(history.Plan{}, true), lb.Inconclusive, "nobody else asked"},
		{"nobody had to ask", unasked(history.Plan{Guarded: true}, true), lb.Safe, ""},
		{"nobody did anything", unasked(history.Plan{Guarded: true}, false), lb.Inconclusive, "nobody else asked"},
		{"two holders", double(history.Plan{}), lb.Broken, "double grant: "},
		{"two holders of what needs none", double(history.Plan{Guarded: true}), lb.Safe, "the work needs no lock, and so this did no harm: double grant: "},
		{"a hurt copy", late(history.Plan{Guarded: true}, landed, 0), lb.Broken, "overstay: "},
	} {
		r := tt.story.check()
		if r.Outcome != tt.want || !strings.HasPrefix(r.Reason, tt.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", tt.name, r.Outcome, r.Reason, tt.want, tt.reason)
		}
		if cell := Merge([]Result{r}, lb.Info{}); (cell.Violations > 0) != (tt.want == lb.Broken) {
			t.Errorf("%s: %d violations", tt.name, cell.Violations)
		}
	}
}
