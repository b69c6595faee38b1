package checker

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench"
)

// late is a holder that wakes up after its lease and writes over the others.
func late(plan lockbench.Plan, checked, fenced string) *story {
	s := tell(plan).busy(10, 12).fault(200, 1500, true)
	s.acquire("w1.c0", "late", 195, 198, lockbench.Event{Until: at(1190), Token: 190})
	base := s.read(199, "w1.c0", "late")
	s.silent("w1", 200, 1490).busy(1200, 5)
	return s.write(1492, "w1.c0", "late", base, checked, fenced).release("w1.c0", "late", 1493, 1494, lockbench.Lost).busy(1600, 3)
}

// double lets two clients believe at once; the store is not hurt.
func double(plan lockbench.Plan) *story {
	e := func(token uint64) lockbench.Event { return lockbench.Event{Until: at(1190), Token: token} }
	return tell(plan).busy(10, 12).fault(200, 300, true).
		acquire("w1.c0", "one", 195, 198, e(190)).acquire("w2.c0", "two", 196, 210, e(191)).
		release("w2.c0", "two", 220, 221, lockbench.OK).release("w1.c0", "one", 230, 231, lockbench.Lost).busy(400, 3)
}

// taken is a lock that nobody gets any more.
func (s *story) taken(from, to int) *story {
	return s.acquire("w1.c0", "in-vain", from, to, lockbench.Event{Result: lockbench.Unknown}).end(to)
}

func TestOutcome(t *testing.T) {
	type plan = lockbench.Plan
	fenced := plan{Traits: lockbench.Traits{Fenced: true}}
	quiet := func() *story { return tell(plan{}).busy(10, 12) }
	tests := []struct {
		name   string
		story  *story
		want   lockbench.Outcome
		reason string
	}{
		{"nothing happened", quiet(), lockbench.Safe, ""},
		{"the fault bit", quiet().fault(60, 90, true), lockbench.Safe, ""},
		{"the fault did not bite", quiet().fault(60, 90, false), lockbench.Inconclusive, "the fault had no effect: measured"},
		{"the fault never struck", quiet().planned("pause"), lockbench.Inconclusive, "the fault never struck"},
		{"too few sections", tell(plan{}).busy(10, 9), lockbench.Inconclusive, "too few contended sections: 9 sections"},
		{"no contention", tell(plan{}).alone(12), lockbench.Inconclusive, "too few contended sections: 12 sections, of which 0"},
		{"a look at the lease was enough", late(plan{}, skipped, ""), lockbench.Check, "overstay: w1.c0 wrote 13 over 17"},
		{"only the fence held", late(fenced, landed, refused), lockbench.Fence, "overstay: "},
		{"no fence", late(plan{}, landed, ""), lockbench.Broken, "overstay: "},
		{"a fence that let it pass", late(fenced, landed, landed), lockbench.Broken, "overstay: "},
		{"two owners, no fence", double(plan{}), lockbench.Broken, "double grant: "},
		{"two owners behind a fence", double(fenced), lockbench.Fence, "double grant: "},
		{"two owners behind a fence that is none", double(fenced).token("w3.c0", "low", 500, 501, 3), lockbench.Broken, "double grant: "},
		{"lost within the lease", quiet().granted("w1.c0", "a", 200, 210, 900).release("w1.c0", "a", 300, 301, lockbench.Lost),
			lockbench.Broken, "vanished grant: the lock was lost while it was held"},
		{"stuck", quiet().fault(200, 210, true).taken(205, 11000), lockbench.Stuck, "ghost: nobody got the lock"},
		{"stuck with few sections", tell(plan{}).busy(10, 1).fault(200, 210, true).taken(205, 11000), lockbench.Stuck, "ghost: "},
		{"stuck and hurt", late(plan{}, skipped, "").taken(1700, 12000), lockbench.Stuck, "ghost: "},
		{"stuck and broken", late(plan{}, landed, "").taken(1700, 12000), lockbench.Broken, "overstay: "},
		{"harm stands though the fault did not bite", double(plan{}).fault(400, 410, false).unbitten(), lockbench.Broken, "double grant: "},
		{"nothing at all", tell(plan{}), lockbench.Inconclusive, "too few"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.story.check()
			if r.Outcome != tt.want || !strings.HasPrefix(r.Reason, tt.reason) {
				t.Errorf("got %s %q, want %s %q\n%s", r.Outcome, r.Reason, tt.want, tt.reason, render(r))
			}
			if harm := harmed(r); harm != (r.FirstViolationMS >= 0) {
				t.Errorf("%s, but the first violation is at %v ms", r.Outcome, r.FirstViolationMS)
			}
		})
	}
}

func (s *story) planned(fault string) *story { s.plan.Fault = fault; return s }

// unbitten makes all faults of the story miss.
func (s *story) unbitten() *story {
	for i := range s.events {
		s.events[i].Bit = false
	}
	return s
}

// alone adds sections without anybody else around.
func (s *story) alone(n int) *story {
	for i := range n {
		id := string(rune('a' + i))
		s.granted("w1.c0", id, 10*i, 10*i+1, 10*i+1000).release("w1.c0", id, 10*i+2, 10*i+3, lockbench.OK)
	}
	return s
}

func TestReasonMentionsEverything(t *testing.T) {
	stuck := late(lockbench.Plan{}, skipped, "").taken(1700, 12000).check()
	if !strings.Contains(stuck.Reason, "besides it took CHECK: overstay: ") {
		t.Error(stuck.Reason)
	}
	missed := double(lockbench.Plan{}).unbitten().check()
	if !strings.Contains(missed.Reason, "(the fault had no measured effect)") {
		t.Error(missed.Reason)
	}
}

// TestIntruder: the write of a holder that overstayed spoils the work of the
// rightful holder, whose own write is stale then. That is not a double grant.
func TestIntruder(t *testing.T) {
	s := tell(lockbench.Plan{}).busy(10, 12)
	s.granted("w1.c0", "late", 195, 198, 300)
	old := s.read(199, "w1.c0", "late")
	s.granted("w2.c0", "next", 200, 310, 1300)
	fresh := s.read(311, "w2.c0", "next")
	s.write(312, "w1.c0", "late", old, landed, "")
	s.write(313, "w2.c0", "next", fresh, landed, "")
	l := layerOf(s.check(), LayerStore)
	if l.Count != 1 || l.Findings[0].Mechanism != lockbench.Overstay ||
		!strings.Contains(l.Findings[0].Sentence, "in between w1.c0 had written at 0.310 s though its lease ended at 0.298 s") {
		t.Errorf("%+v", l)
	}
}

func TestContended(t *testing.T) {
	s := tell(lockbench.Plan{}).granted("w1.c0", "a", 0, 1, 100) // nobody else yet
	s.granted("w2.c0", "b", 2, 50, 150)                          // against w1.c0
	s.acquire("w2.c0", "c", 60, 70, lockbench.Event{Result: lockbench.Fail})
	s.acquire("w3.c0", "d", 160, 170, lockbench.Event{Result: lockbench.Fail}) // all leases are over
	s.acquire("w2.c0", "e", 110, 120, lockbench.Event{Result: lockbench.Fail}) // only its own is left
	if r := s.check(); r.Contended != 2 {
		t.Errorf("%d contended, want 2", r.Contended)
	}
}
