package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// late is a holder that wakes up after its lease and writes over the others.
func late(plan history.Plan, checked, fenced history.Decision) *story {
	s := tell(plan).busy(10, 12).fault(200, 1500, true)
	s.acquire("w1.c0", "late", 195, 198, history.Event{Until: at(1190), Token: 190})
	base := s.read(199, "w1.c0", "late")
	s.silent("w1", 200, 1490).busy(1200, 5)
	return s.write(1492, "w1.c0", "late", base, checked, fenced).release("w1.c0", "late", 1493, 1494, lb.AnswerLost).busy(1600, 3)
}

// double lets two clients believe at once; the store is not hurt.
func double(plan history.Plan) *story {
	e := func(token uint64) history.Event { return history.Event{Until: at(1190), Token: token} }
	return tell(plan).busy(10, 12).fault(200, 300, true).
		acquire("w1.c0", "one", 195, 198, e(190)).acquire("w2.c0", "two", 196, 210, e(191)).
		release("w2.c0", "two", 220, 221, lb.AnswerOK).release("w1.c0", "one", 230, 231, lb.AnswerLost).busy(400, 3)
}

// taken is a lock that nobody gets any more.
func (s *story) taken(from, to int) *story {
	return s.acquire("w1.c0", "in-vain", from, to, history.Event{Result: lb.AnswerUnknown}).end(to)
}

// TestStarved: a holder that outlived its lease only because the machine did not let its
// process run convicts nobody; one that a fault had frozen does.
func TestStarved(t *testing.T) {
	for _, tt := range []struct {
		name    string
		frozen  bool // by a fault
		renews  bool
		silence [2]int
		store   [2]int
		want    lb.Outcome
		reason  string
	}{
		{"by a fault", true, false, [2]int{200, 1490}, [2]int{}, lb.Check, "overstay: "},
		{"by the machine", false, false, [2]int{200, 1490}, [2]int{}, lb.Inconclusive, "the process of w1.c0 did not run for 1.290 s, and no fault had stopped it"},
		{"not long enough to matter", false, false, [2]int{200, 300}, [2]int{}, lb.Check, "overstay: "},
		{"in the way of renewals", false, true, [2]int{700, 1100}, [2]int{}, lb.Inconclusive, "the process of w1.c0 did not run for 0.400 s"},
		{"hardly, in the way of renewals", false, true, [2]int{190, 250}, [2]int{}, lb.Check, "overstay: "},
		{"before the last renewal", false, true, [2]int{200, 700}, [2]int{}, lb.Check, "overstay: "},
		{"by the store", false, false, [2]int{200, 201}, [2]int{300, 1490}, lb.Inconclusive, "the process of w1.c0, or the protected store, did not run for 1.191 s"},
		{"by the store for too short a time", false, false, [2]int{200, 201}, [2]int{1390, 1490}, lb.Check, "overstay: "},
		{"by a fault, and hardly by the store", true, false, [2]int{200, 1490}, [2]int{1400, 1490}, lb.Check, "overstay: "},
		{"renewals do not wait for the store", false, true, [2]int{190, 191}, [2]int{700, 980}, lb.Check, "overstay: "},
	} {
		s := tell(history.Plan{TTL: time.Second, Traits: lb.Traits{Renewing: tt.renews}}).busy(10, 12).fault(200, 1500, true)
		s.acquire("w1.c0", "late", 195, 198, history.Event{Until: at(1190)})
		base := s.read(199, "w1.c0", "late")
		act := history.Event{Kind: history.KindAct, Name: "delay", Target: "w1.c0", Phase: history.PhaseBegin}
		if tt.frozen {
			act.Name = history.ActFreeze
		}
		s.add(200, act)
		s.silent("w1", tt.silence[0], tt.silence[1])
		if tt.store[1] > 0 {
			s.silent(history.Store, tt.store[0], tt.store[1])
		}
		late := 0
		if tt.renews && tt.silence[0] > 190 {
			late = 1000
		}
		if tt.name == "before the last renewal" {
			s.add(1180, history.Event{Kind: history.KindRenew, Client: "w1.c0", Lock: "l", ID: "late", Until: at(1190 + late)})
		}
		s.busy(1200+late, 5).write(1492+late, "w1.c0", "late", base, skipped, 0)
		s.release("w1.c0", "late", 1493+late, 1494+late, lb.AnswerLost).busy(1600+late, 3)
		r := Check(t.Context(), s.plan, indexed(s.events))
		if r.Outcome != tt.want || !strings.HasPrefix(r.Reason, tt.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", tt.name, r.Outcome, r.Reason, tt.want, tt.reason)
		}
	}
}

// TestAround: some calls of a program of the user's that took no request that was seen are told, though
// the others show what can be said of it.
func TestAround(t *testing.T) {
	s := tell(history.Plan{Exec: &history.Exec{Name: "mine"}}).busy(10, 12)
	seen := 0
	for i := range s.events {
		if e := &s.events[i]; e.Kind == history.KindReturn && (e.Op == history.OpRelease || seen < 8) {
			e.Requests, e.Sent = 1, "set"
			if e.Op == history.OpAcquire {
				seen++
			}
		}
	}
	res := s.check()
	want := "12 grants, and for 4 of them none of the requests passed lockbench that the program says it sends"
	if res.Outcome != lb.Safe || !slices.Contains(res.Claims, Unkept{claimRequests, want}) {
		t.Errorf("%s, claims %q, want SAFE and %q", res.Outcome, res.Claims, want)
	}
}

func TestOutcome(t *testing.T) {
	type plan = history.Plan
	fenced := plan{Traits: lb.Traits{Fenced: true}}
	quiet := func() *story { return tell(plan{}).busy(10, 12) }
	mine := func(acquires, releases int) *story {
		s := tell(plan{Exec: &history.Exec{Name: "mine"}}).busy(10, 12)
		for i := range s.events {
			e := &s.events[i]
			n := map[string]*int{history.OpAcquire: &acquires, history.OpRelease: &releases}[e.Op]
			if e.Kind == history.KindReturn && *n > 0 {
				e.Requests, *n = 1, *n-1
			}
		}
		return s
	}
	tests := []struct {
		name   string
		story  *story
		want   lb.Outcome
		reason string
	}{
		{"nothing happened", quiet(), lb.Safe, ""},
		{"the fault was proven", quiet().fault(60, 90, true), lb.Safe, ""},
		{"the fault did not bite", quiet().fault(60, 90, false), lb.Inconclusive, "the fault had no effect: measured"},
		{"the fault was over at once", tell(plan{Brief: true, TTL: time.Second}).busy(10, 12).fault(60, 61, true), lb.Inconclusive, "a fault was told to be over in less than a tenth of a lease of 1s"},
		{"the fault was over at once, and hurt", double(plan{Brief: true}).fault(400, 410, true), lb.Broken, "double grant: "},
		{"a program that walks around the bench", mine(0, 0), lb.Inconclusive, "12 grants, and for 12 of them none of the requests passed lockbench"},
		{"a program of which half is seen", mine(5, 12), lb.Inconclusive, "12 grants, and for 7 of them none of the requests passed lockbench"},
		{"a program whose releases go around the bench", mine(12, 5), lb.Inconclusive, "12 releases, and for 7 of them none of the requests passed lockbench"},
		{"a program that asks through the bench", mine(12, 12), lb.Safe, ""},
		{"a program that holds some of its locks twice", mine(6, 6), lb.Safe, ""},
		{"the fault never struck", quiet().planned("pause"), lb.Inconclusive, "the fault never struck"},
		{"nobody else asked while it was in force", quiet().fault(2000, 3000, true).busy(4000, 12), lb.Inconclusive, "nobody else asked for the lock while the fault was in force"},
		{"nobody else asked before it was being healed", quiet().fault(2000, 3000, true).healing(2100).busy(2200, 12), lb.Inconclusive, "nobody else asked for the lock while the fault was in force"},
		{"somebody asked before it was being healed", quiet().fault(2000, 3000, true).healing(2300).busy(2200, 12), lb.Safe, ""},
		{"what was asked during two faults at once counts once", quiet().fault(2000, 3000, true).planned("another").fault(2000, 3000, true).
			granted("w9.c0", "brief", 2500, 2503, 2510).release("w9.c0", "brief", 2504, 2505, lb.AnswerOK).busy(4000, 12), lb.Inconclusive, "nobody else asked for the lock while the fault was in force"},
		{"too few sections", tell(plan{}).busy(10, 9), lb.Inconclusive, "too few contended sections: 9 sections"},
		{"no contention", tell(plan{}).alone(12), lb.Inconclusive, "too few contended sections: 12 sections, and 0 acquires while"},
		{"a look at the lease was enough", late(plan{}, skipped, 0), lb.Check, "overstay: w1.c0 wrote 13 over 17"},
		{"only the fence held", late(fenced, landed, refused), lb.Fence, "overstay: "},
		{"no fence", late(plan{}, landed, 0), lb.Broken, "overstay: "},
		{"a fence that let it pass", late(fenced, landed, landed), lb.Broken, "overstay: "},
		{"two owners, no fence", double(plan{}), lb.Broken, "double grant: "},
		{"two owners behind a fence", double(fenced), lb.Fence, "double grant: "},
		{"two owners behind a fence that is none", double(fenced).token("w3.c0", "low", 500, 501, 3), lb.Broken, "double grant: "},
		{"lost within the lease", quiet().granted("w1.c0", "a", 200, 210, 900).release("w1.c0", "a", 300, 301, lb.AnswerLost),
			lb.Broken, "vanished grant: the lock was lost while it was held"},
		{"stuck", quiet().fault(200, 210, true).taken(205, 11000), lb.Stuck, "ghost: nobody got the lock"},
		{"stuck with few sections", tell(plan{}).busy(10, 1).fault(200, 210, true).taken(205, 11000), lb.Stuck, "ghost: "},
		{"stuck and hurt", late(plan{}, skipped, 0).taken(1700, 12000), lb.Stuck, "ghost: "},
		{"stuck and broken", late(plan{}, landed, 0).taken(1700, 12000), lb.Broken, "overstay: "},
		{"harm stands though the fault did not bite", double(plan{}).fault(400, 410, false).unbitten(), lb.Broken, "double grant: "},
		{"nothing at all", tell(plan{}), lb.Inconclusive, "too few"},
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

// TestMisnamed: what a program sends and does not name, or names and never sends, is told beside the
// verdict, which stands.
func TestMisnamed(t *testing.T) {
	for sent, want := range map[string]string{
		"set,del":           "",
		"del,expire,set":    "the program sent expire, which it does not name among its requests, so that no fault can be told to strike there",
		"set":               "it names del among its requests, which no client was seen to send",
		"setnx,del,set":     "the program sent setnx, which it does not name among its requests, so that no fault can be told to strike there",
		"evalsha,ping,setx": "the program sent evalsha, ping, setx, which it does not name among its requests, so that no fault can be told to strike there; it names set, del among its requests, which no client was seen to send",
	} {
		s := tell(history.Plan{Exec: &history.Exec{Name: "mine", Described: []byte(`{"requests":["set","del","unlisten"],"rare":{"unlisten":"once in a while"}}`)}}).busy(10, 12)
		for i := range s.events {
			if e := &s.events[i]; e.Kind == history.KindReturn {
				e.Requests, e.Sent, sent = 1, sent, ""
			}
		}
		var told []string
		for _, claim := range s.check().Claims {
			told = append(told, claim.String())
		}
		if r := s.check(); r.Outcome != lb.Safe || strings.Join(told, "; ") != want {
			t.Errorf("%s, and %q is told, want %q", r.Outcome, told, want)
		}
	}
}

// unbitten makes all faults of the story miss.
func (s *story) unbitten() *story {
	for i := range s.events {
		s.events[i].Proven = false
	}
	return s
}

// alone adds sections without anybody else around.
func (s *story) alone(n int) *story {
	for i := range n {
		id := string(rune('a' + i))
		s.granted("w1.c0", id, 10*i, 10*i+1, 10*i+1000).release("w1.c0", id, 10*i+2, 10*i+3, lb.AnswerOK)
	}
	return s
}

func TestReasonMentionsEverything(t *testing.T) {
	stuck := late(history.Plan{}, skipped, 0).taken(1700, 12000).check()
	if !strings.Contains(stuck.Reason, "besides it took CHECK: overstay: ") {
		t.Error(stuck.Reason)
	}
	missed := double(history.Plan{}).unbitten().check()
	if !strings.Contains(missed.Reason, "(the fault had no measured effect)") {
		t.Error(missed.Reason)
	}
}

// TestIntruder: the write of a holder that overstayed spoils the work of the
// rightful holder, whose own write is stale then. That is not a double grant.
func TestIntruder(t *testing.T) {
	s := tell(history.Plan{}).busy(10, 12)
	s.granted("w1.c0", "late", 195, 198, 300)
	old := s.read(199, "w1.c0", "late")
	s.granted("w2.c0", "next", 200, 310, 1300)
	fresh := s.read(311, "w2.c0", "next")
	s.write(312, "w1.c0", "late", old, landed, 0)
	s.write(313, "w2.c0", "next", fresh, landed, 0)
	l := layerOf(s.check(), LayerStore)
	if l.Count != 1 || l.Findings[0].Mechanism != lb.Overstay ||
		!strings.Contains(l.Findings[0].Sentence, "in between w1.c0 had written at 0.310 s though its lease ended at 0.298 s") {
		t.Errorf("%+v", l)
	}
}

func TestContended(t *testing.T) {
	s := tell(history.Plan{}).granted("w1.c0", "a", 0, 1, 100) // nobody else yet
	s.granted("w2.c0", "b", 2, 50, 150)                        // against w1.c0
	s.acquire("w2.c0", "c", 60, 70, history.Event{Result: lb.AnswerFailed})
	s.acquire("w3.c0", "d", 160, 170, history.Event{Result: lb.AnswerFailed}) // all leases are over
	s.acquire("w2.c0", "e", 110, 120, history.Event{Result: lb.AnswerFailed}) // only its own is left
	if r := s.check(); r.Contended != 2 {
		t.Errorf("%d contended, want 2", r.Contended)
	}
}
