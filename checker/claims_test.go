package checker

import (
	"fmt"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestClaims: what an algorithm claims beside is judged where it does, and changes no
// outcome.
func TestClaims(t *testing.T) {
	fair := history.Plan{Traits: lb.Traits{Fair: true}}
	told := history.Plan{Traits: lb.Traits{LostNotice: true}}
	leased := history.Plan{Traits: lb.Traits{Leased: true}}
	never := history.Event{Result: lb.AnswerUnknown}
	forgotten := func(p history.Plan) *story { // a holder that gives up, and a waiter
		return tell(p).busy(10, 12).granted("w1.c0", "h", 195, 200, 900).release("w1.c0", "h", 300, 301, lb.AnswerUnknown)
	}
	taken := func(p history.Plan) *story { // from somebody who relies on it without end
		return tell(p).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 50, 0).release("w2.c0", "b", 60, 61, lb.AnswerOK)
	}
	for _, tt := range []struct {
		name    string
		story   *story
		layer   string
		verdict Verdict
		says    string
	}{
		{"one after the other", turns(fair, 20, false), LayerFair, Valid, "18 grants that somebody waited for, 0 out of turn"},
		{"the last comes first", turns(fair, 20, true), LayerFair, Invalid, "out of turn by more than 20ms: w"},
		{"while a fault was in force", turns(fair, 20, true).fault(0, 9000, true), LayerFair, Vacuous, "nobody waited"},
		{"while a worker did not run", turns(fair, 20, true).silent("w7", 0, 9000), LayerFair, Vacuous, "nobody waited"},
		{"nobody waits", tell(fair).alone(5), LayerFair, Vacuous, "nobody waited"},

		{"told at once", taken(told).lost("w1.c0", "a", 55).end(9000), LayerTold, Valid, "1 grant of a lock that somebody relied on"},
		{"told late", taken(told).lost("w1.c0", "a", 4000).end(9000), LayerTold, Invalid,
			"w2.c0 was granted the lock at 0.050 s, and w1.c0, who relied on it, had not been told 3.950 s later"},
		{"never told", taken(told).end(9000), LayerTold, Invalid, "8.950 s later"},
		{"never told, but it gave it back", taken(told).release("w1.c0", "a", 3000, 3001, lb.AnswerLost).end(9000), LayerTold, Valid, ""},
		{"it did not run", taken(told).silent("w1", 100, 8000).end(9000), LayerTold, Valid, ""},
		{"told at the last moment", taken(told).lost("w1.c0", "a", 3050).end(9000), LayerTold, Valid, ""},
		{"told a moment later", taken(told).lost("w1.c0", "a", 3051).end(9000), LayerTold, Invalid, "3.001 s later"},
		{"both asked at once, and neither is told", tell(told).granted("w1.c0", "a", 0, 3, 0).granted("w2.c0", "b", 2, 5, 0).end(9000), LayerTold, Invalid, "8.995 s later"},
		{"both asked at once, and one ceases", tell(told).granted("w1.c0", "a", 0, 3, 0).granted("w2.c0", "b", 2, 5, 0).release("w2.c0", "b", 60, 61, lb.AnswerOK).end(9000), LayerTold, Valid, ""},
		{"two readers", tell(told).shared("w1.c0", "a", 0, 1).shared("w2.c0", "b", 2, 50).end(9000), LayerTold, Vacuous, ""},
		{"its own second grant", tell(told).granted("w1.c0", "a", 0, 1, 0).granted("w1.c0", "b", 2, 50, 0).end(9000), LayerTold, Vacuous, ""},
		{"a renewal is no grant", tell(told).granted("w1.c0", "a", 0, 1, 40).granted("w2.c0", "b", 2, 50, 0).renew("w1.c0", "a", 60, 9000).end(9000), LayerTold, Vacuous, ""},
		{"the run ended", taken(told).end(2000), LayerTold, Valid, ""},
		{"nobody lost it", tell(told).busy(10, 12), LayerTold, Vacuous, ""},

		{"it comes back", forgotten(leased).acquire("w2.c0", "x", 310, 4000, history.Event{Until: at(5000)}).end(4001), LayerLeased, Valid, ""},
		{"it comes back too late", forgotten(leased).acquire("w2.c0", "x", 310, 6000, history.Event{Until: at(7000)}).end(6001), LayerLeased, Invalid,
			"nobody could get the lock for 5.100 s from 0.900 s on, longer than its lease of 1s (w1.c0 had called release at 0.300 s (unknown))"},
		{"it comes back at the last moment", forgotten(leased).acquire("w2.c0", "x", 310, 4900, history.Event{Until: at(7000)}).end(6001), LayerLeased, Valid, ""},
		{"it comes back a moment later", forgotten(leased).acquire("w2.c0", "x", 310, 4901, history.Event{Until: at(7000)}).end(6001), LayerLeased, Invalid, "for 4.001 s"},
		{"somebody had it in between, for no time", forgotten(leased).acquire("w3.c0", "y", 310, 3000, history.Event{Until: at(2000)}).
			acquire("w2.c0", "x", 310, 6900, history.Event{Until: at(8000)}).end(6901), LayerLeased, Valid, ""},
		{"a fault was healed at its begin", forgotten(leased).fault(800, 900, true).acquire("w2.c0", "x", 310, 6000, history.Event{Until: at(7000)}).end(6001), LayerLeased, Valid, ""},
		{"a fault was healed before it", forgotten(leased).fault(800, 899, true).acquire("w2.c0", "x", 310, 6000, history.Event{Until: at(7000)}).end(6001), LayerLeased, Invalid, "for 5.100 s"},
		{"a fault was in force", forgotten(leased).fault(800, 950, true).acquire("w2.c0", "x", 310, 6000, history.Event{Until: at(7000)}).end(6001), LayerLeased, Valid, ""},
		{"a worker did not run", forgotten(leased).silent("w7", 800, 950).acquire("w2.c0", "x", 310, 6000, history.Event{Until: at(7000)}).end(6001), LayerLeased, Valid, ""},
		{"nobody asked", forgotten(leased).acquire("w2.c0", "x", 5900, 6000, never).end(6001), LayerLeased, Valid, ""},
	} {
		tt.story.events = append(history.Events{{At: at(0), Kind: history.KindSilent, Worker: "nobody", Call: at(0)}}, tt.story.events...)
		r := tt.story.check()
		l := layerOf(r, tt.layer)
		if l.Verdict != tt.verdict || !strings.Contains(l.Summary, tt.says) {
			t.Errorf("%s: %s: %s, want %s: %s", tt.name, l.Verdict, l.Summary, tt.verdict, tt.says)
		}
		if broken := len(r.Claims) > 0 && r.Claims[0].Claim == tt.layer; broken != (tt.verdict == Invalid) {
			t.Errorf("%s: claims %q", tt.name, r.Claims)
		}
		if tt.layer == LayerFair && r.Outcome == lb.Broken {
			t.Errorf("%s: %s %s", tt.name, r.Outcome, r.Reason)
		}
	}
}

// turns lets clients wait for a lock, and grants it in their order; or passes over every
// third for those who asked later.
func turns(p history.Plan, n int, barging bool) *story {
	s := tell(p)
	for i := range n {
		from, id := 100*i, fmt.Sprint("t", i)
		call := from - 150
		if barging {
			call = from - []int{300, 40, 40}[(i+1)%3]
		}
		client := fmt.Sprintf("w%d.c0", 1+i)
		s.granted(client, id, max(0, call), from+1, from+900).release(client, id, from+50, from+52, lb.AnswerOK)
	}
	return s
}

// TestOutageIsTold: a lock that nobody could get for longer than a lease is told of,
// though it is no violation.
func TestOutageIsTold(t *testing.T) {
	s := tell(history.Plan{}).busy(10, 12).granted("w1.c0", "h", 195, 200, 900).release("w1.c0", "h", 300, 301, lb.AnswerUnknown).
		acquire("w2.c0", "x", 310, 3300, history.Event{Until: at(4000)}).end(3301)
	r := s.check()
	const want = "nobody could get the lock for 2.400 s from 0.898 s on, longer than its lease of 1s (w1.c0 had called release at 0.298 s (unknown))"
	if r.Outcome != lb.Safe || r.Outage != want || !strings.Contains(layerOf(r, LayerProgress).Summary, want) {
		t.Errorf("%s %q\n%s", r.Outcome, r.Outage, layerOf(r, LayerProgress).Summary)
	}
	if c := Merge([]Result{r}, lb.Info{}); c.Outage != want {
		t.Errorf("%+v", c)
	}
	s = tell(history.Plan{}).busy(10, 12).granted("w1.c0", "h", 195, 200, 900).release("w1.c0", "h", 300, 301, lb.AnswerUnknown).
		acquire("w2.c0", "x", 310, 1900, history.Event{Until: at(4000)}).end(3301)
	if r := s.check(); r.Outage != "" {
		t.Errorf("no longer than a lease: %q", r.Outage)
	}
}

// TestFairness: what is out of turn, and how much of it is too much.
func TestFairness(t *testing.T) {
	plain, reentrant := lb.Traits{Fair: true}, lb.Traits{Fair: true, Reentrant: true}
	waits, refused := history.Event{}, history.Event{Result: lb.AnswerFailed}
	for _, tt := range []struct {
		name    string
		traits  lb.Traits
		waiter  history.Event
		in, out int // grants in turn and out of turn, for all of which somebody waits
		gap     int // how much later than the one who waits those out of turn ask
		release int // how long those releases take
		fault   bool
		want    Verdict
	}{
		{"four", plain, waits, 0, 4, 30, 1, false, Valid},
		{"five", plain, waits, 0, 5, 30, 1, false, Invalid},
		{"a tenth", plain, waits, 45, 5, 30, 1, false, Valid},
		{"more than a tenth", plain, waits, 44, 5, 30, 1, false, Invalid},
		{"asked for within a trip", plain, waits, 0, 9, 20, 1, false, Valid},
		{"asked for just later", plain, waits, 0, 9, 21, 1, false, Invalid},
		{"within the trip of a slow release", plain, waits, 0, 9, 60, 30, false, Valid},
		{"later than that", plain, waits, 0, 9, 61, 30, false, Invalid},
		{"a release that was slow under a fault", plain, waits, 0, 9, 60, 30, true, Invalid},
		{"who is refused does not wait", plain, refused, 0, 9, 30, 1, false, Valid},
		{"readers do not wait", plain, history.Event{Shared: true}, 0, 9, 30, 1, false, Valid},
		{"who has the lock re-enters", reentrant, waits, 0, -9, 30, 1, false, Valid},
		{"who has not, does not", reentrant, waits, 0, 9, 30, 1, false, Invalid},
	} {
		s := tell(history.Plan{Traits: tt.traits})
		if tt.fault {
			s.fault(0, 200, true)
		}
		s.granted("w0.c0", "slow", 50, 60, 0).release("w0.c0", "slow", 70, 70+tt.release, lb.AnswerOK)
		now := 1000
		for i := range tt.in { // the first of two is served first
			a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
			s.granted("w1.c0", a, now, now+10, 0).granted("w2.c0", b, now+5, now+13, 0)
			s.release("w1.c0", a, now+11, now+12, lb.AnswerOK).release("w2.c0", b, now+14, now+15, lb.AnswerOK)
			now += 20
		}
		s.acquire("w9.c0", "w", now, now+5000, tt.waiter)
		now += tt.gap
		if tt.out < 0 { // nobody releases
			for i := range -tt.out {
				s.granted("w3.c0", fmt.Sprint("c", i), now+2*i, now+2*i+1, 0)
			}
		}
		for i := range tt.out {
			id, client := fmt.Sprint("c", i), fmt.Sprintf("v%d.c0", i)
			s.granted(client, id, now, now+10+3*i, 0).release(client, id, now+11+3*i, now+12+3*i, lb.AnswerOK)
		}
		r := s.end(now + 6000).check()
		if l := layerOf(r, LayerFair); l.Verdict != tt.want {
			t.Errorf("%s: %s, want %s: %s", tt.name, l.Verdict, tt.want, l.Summary)
		}
	}
}

// TestUnfairnessOfOthers: a fault excuses that somebody is passed over whom it may have struck,
// and nobody else.
func TestUnfairnessOfOthers(t *testing.T) {
	plan := history.Plan{Traits: lb.Traits{Fair: true}}
	for _, tt := range []struct {
		act, target string
		silent      string // its process did not run meanwhile
		want        Verdict
	}{
		{"freeze", "w1.c0", "w1", Vacuous},  // who waits
		{"freeze", "w2", "w2", Invalid},     // another
		{"move clock", "w1-2", "", Vacuous}, // beside it on its host
		{"drop", "w1 → redis1", "", Vacuous},
		{"drop", "w2 → redis1", "", Invalid},
		{"drop", "redis1 → w2", "", Invalid},
		{"drop", "w1+w2 ↔ redis1", "", Vacuous},
		{"drop", "redis1 → redis2", "", Vacuous},
		{"flap", "w2+redis1 ↔ redis2", "", Vacuous},
		{"kill", "redis1", "", Vacuous},
		{"hold", "all but w2.c0", "", Vacuous},
		{"move clock", "w2", "w3", Vacuous}, // and the machine stood still
		{"", "", "", Vacuous},
	} {
		s := tell(plan).struck("some", 0, 2000, true).acquire("w1.c0", "a", 1, 1900, history.Event{})
		s.granted("w1-2.c0", "twin", 2100, 2101, 0)
		if tt.act != "" {
			s.add(0, history.Event{Kind: history.KindAct, Name: tt.act, Target: tt.target, Fault: "some", Phase: history.PhaseBegin})
			s.add(1999, history.Event{Kind: history.KindAct, Name: tt.act, Target: tt.target, Fault: "some", Phase: history.PhaseEnd})
		}
		if tt.silent != "" {
			s.silent(tt.silent, 20, 1800)
		}
		for i := range 20 {
			id, from := fmt.Sprint("b", i), 100+50*i
			s.granted("w2.c0", id, from, from+2, 0).release("w2.c0", id, from+4, from+5, lb.AnswerOK)
		}
		if l := layerOf(s.end(3000).check(), LayerFair); l.Verdict != tt.want {
			t.Errorf("%s of %s: %s, want %s: %s", tt.act, tt.target, l.Verdict, tt.want, l.Summary)
		}
	}
}

// TestClaimsChangeNoOutcome: neither one that could not be decided, nor one that was not
// kept, however early.
func TestClaimsChangeNoOutcome(t *testing.T) {
	s := tell(history.Plan{}).busy(10, 12)
	for _, claim := range []Layer{
		{Verdict: Undecided, Summary: "too hard"},
		{Verdict: Invalid, Summary: "it was not kept", Count: 1, Findings: []Finding{{At: at(20), Sentence: "w1 waited"}}},
		{Verdict: Vacuous, Summary: "nobody waited"},
	} {
		with := append(layers[:len(layers):len(layers)], layer{name: LayerTold, judge: func(*run) Layer { return claim }})
		r := check(t.Context(), Options{}, s.plan, indexed(s.events), with)
		if r.Outcome != lb.Safe || r.FirstViolationMS >= 0 || len(r.Claims) != claim.Count {
			t.Errorf("%s: %s %q, %v, %q", claim.Verdict, r.Outcome, r.Reason, r.FirstViolationMS, r.Claims)
		}
	}
}
