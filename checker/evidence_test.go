package checker

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestEvidence: a run in which the work was not done proves nothing, whatever the other
// layers say; harm that was seen stands.
func TestEvidence(t *testing.T) {
	type plan = history.Plan
	store := plan{Evidence: []string{LayerStore}}
	fenced := plan{Evidence: []string{LayerStore}, Traits: lb.Traits{Fenced: true}}
	failed := func(s *story) *story {
		return s.failed(5, "w5.c0", "the store: no route to host").failed(6, "w5.c0", "")
	}
	for _, tt := range []struct {
		name   string
		story  *story
		want   lb.Outcome
		reason string
	}{
		{"the store was used", tell(store).busy(10, 12), lb.Safe, ""},
		{"the store was never reached", tell(store).idle(12), lb.Inconclusive,
			"store saw nothing, and the verdict rests on it: no access to the protected store is recorded"},
		{"nor had it to be", tell(plan{}).idle(12), lb.Safe, ""},
		{"another layer saw nothing", tell(plan{Evidence: []string{LayerToken}}).busy(10, 12), lb.Inconclusive, "token saw nothing"},
		{"a layer that there is none of", tell(plan{Evidence: []string{"taste"}}).busy(10, 12), lb.Inconclusive, "there is no layer taste"},
		{"too little of it was used", tell(store).busy(10, 3).idle(12), lb.Inconclusive, "too few contended sections: 3 sections"},
		{"the work failed", failed(tell(plan{}).busy(10, 12)), lb.Inconclusive, "the work failed 2 times: w5.c0 at 0.003 s: the store: no route to host"},
		{"the work failed and a look was needed", failed(late(plan{}, skipped, 0)), lb.Inconclusive, "the work failed 2 times"},
		{"the work failed and the fence was needed", failed(late(fenced, landed, refused)), lb.Inconclusive, "the work failed 2 times"},
		{"the work failed and it broke", failed(late(plan{}, landed, 0)), lb.Broken, "overstay: "},
		{"the work failed and it is stuck", failed(tell(plan{}).busy(10, 12).fault(200, 210, true).taken(205, 11000)), lb.Stuck, "ghost: "},
	} {
		if r := tt.story.check(); r.Outcome != tt.want || !strings.HasPrefix(r.Reason, tt.reason) {
			t.Errorf("%s: %s %q, want %s %q", tt.name, r.Outcome, r.Reason, tt.want, tt.reason)
		}
	}
}

// TestSections: what is counted is work that was done.
func TestSections(t *testing.T) {
	s := tell(history.Plan{Evidence: []string{LayerStore}}).busy(10, 4).idle(5)
	s.granted("w1.c0", "looks", 501, 502, 900).read(503, "w1.c0", "looks")
	if r := s.check(); r.Sections != 4 {
		t.Errorf("%d sections with 4 writes", r.Sections)
	}
	if s.plan.Evidence = nil; s.check().Sections != 9 {
		t.Errorf("%d sections with 9 releases", s.check().Sections)
	}
}

func (s *story) failed(t int, client, note string) *story {
	return s.add(t, history.Event{Kind: history.KindFailed, Client: client, Note: note})
}

// idle adds contended sections without any work.
func (s *story) idle(n int) *story {
	for i := range n {
		client, id, t := []string{"w1.c0", "w2.c0"}[i%2], "idle-"+string(rune('a'+i)), 400+10*i
		s.granted(client, id, t-8, t+1, t+1000).release(client, id, t+4, t+5, lb.AnswerOK)
	}
	return s
}
