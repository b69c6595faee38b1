package checker

import (
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

const (
	landed  = history.Landed
	refused = history.Refused
	skipped = history.Skipped
)

// TestLayers tells one small story for each thing that a layer must see or must
// not see.
func TestLayers(t *testing.T) {
	type plan = history.Plan
	tests := []struct {
		name    string
		layer   string
		story   *story
		verdict Verdict
		count   int
		says    string // part of the first finding, or of the summary
	}{
		{"the lease ended before the next grant", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 100, 200), Valid, 0, "4 operations"},
		{"granted within the lease", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 99, 200), Invalid, 1, "w2.c0 was granted the lock at "},
		{"no lease and no release", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 5000, 0), Invalid, 1, "w2.c0 was granted the lock at "},
		{"a renewal extends the hold", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).renew("w1.c0", "a", 50, 300).granted("w2.c0", "b", 2, 200, 400), Invalid, 1, "until 0.300 s"},
		{"a renewal behind the release proves nothing", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).release("w1.c0", "a", 120, 130, lb.AnswerUnknown).
				renew("w1.c0", "a", 150, 300).granted("w2.c0", "b", 2, 110, 140), Valid, 0, ""},
		{"a slow renewal takes nothing back", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).renew("w1.c0", "a", 50, 300).renew("w1.c0", "a", 60, 200).granted("w2.c0", "b", 2, 250, 400), Invalid, 1, "until 0.300 s"},
		{"a lost notice ends the hold", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).lost("w1.c0", "a", 50).granted("w2.c0", "b", 2, 60, 0), Valid, 0, ""},
		{"the death of its process ends the hold", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).dead("w1", 50).granted("w2.c0", "b", 2, 60, 0), Valid, 0, ""},
		{"another process's death does not", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).dead("w10", 50).granted("w2.c0", "b", 2, 60, 0), Invalid, 1, ""},
		{"a release that nobody was granted", LayerGrant,
			tell(plan{}).release("w1.c0", "a", 1, 2, lb.AnswerOK), Invalid, 1, "never asked"},
		{"lost within the lease", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).release("w1.c0", "a", 50, 60, lb.AnswerLost), Invalid, 1, "lost while it was held"},
		{"lost after the lease", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).release("w1.c0", "a", 50, 100, lb.AnswerLost), Valid, 0, ""},
		{"a late release is no proof", LayerGrant,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 150, 250).release("w1.c0", "a", 200, 210, lb.AnswerOK), Valid, 0, ""},
		{"two readers", LayerGrant, tell(plan{}).shared("w1.c0", "a", 0, 1).shared("w2.c0", "b", 2, 3), Valid, 0, ""},
		{"a reader and a writer", LayerGrant,
			tell(plan{}).shared("w1.c0", "a", 0, 1).shared("w2.c0", "b", 2, 3).granted("w3.c0", "c", 4, 5, 0), Invalid, 1, "w3.c0"},

		{"beliefs that touch", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 100, 200), Valid, 0, ""},
		{"beliefs that overlap", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 99, 200), Invalid, 1, "both relied on the lock from 0.099 s to 0.100 s"},
		{"a release call ends belief", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).release("w1.c0", "a", 50, 90, lb.AnswerUnknown).granted("w2.c0", "b", 2, 60, 200), Valid, 0, ""},
		{"a frozen holder stops to believe when its lease ends", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).silent("w1", 2, 500).granted("w2.c0", "b", 2, 150, 200), Valid, 0, ""},
		{"a late renewal leaves a gap", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).renew("w1.c0", "a", 150, 300).granted("w2.c0", "b", 2, 110, 140), Valid, 0, ""},
		{"behind the gap it believes again", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).renew("w1.c0", "a", 150, 300).granted("w2.c0", "b", 2, 110, 160), Invalid, 1, "from 0.150 s to 0.160 s"},
		{"a chain is one finding", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 50, 150).granted("w3.c0", "c", 3, 60, 160), Invalid, 1, "1 further overlap followed"},
		{"a moment with one owner does not end the chain", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 50, 150).granted("w3.c0", "c", 3, 110, 160), Invalid, 1,
			"1 further period with two owners came after it"},
		{"a moment with none does", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 50, 150).
				granted("w1.c0", "c", 160, 161, 300).granted("w2.c0", "d", 162, 163, 300), Invalid, 2, ""},
		{"one client twice is not two clients", LayerBelief,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w1.c0", "b", 2, 50, 150), Valid, 0, ""},
		{"readers don't clash", LayerBelief, tell(plan{}).shared("w1.c0", "a", 0, 1).shared("w2.c0", "b", 2, 3), Valid, 0, ""},
		{"nothing granted", LayerBelief, tell(plan{}).end(1), Vacuous, 0, ""},

		{"a write at the end of the lease", LayerOverstay,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).write(100, "w1.c0", "a", nil, landed, 0), Valid, 0, ""},
		{"a write after the lease", LayerOverstay,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).silent("w1", 2, 108).granted("w2.c0", "b", 2, 103, 900).
				write(110, "w1.c0", "a", nil, skipped, 0), Invalid, 1,
			"w1.c0 wrote at 0.110 s, 0.010 s after its lease ended at 0.100 s; its process did not run from 0.002 s to 0.108 s; meanwhile the lock was held by w2.c0"},
		{"a write after a lost notice", LayerOverstay,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).lost("w1.c0", "a", 50).write(70, "w1.c0", "a", nil, landed, 0), Invalid, 1, "learned at 0.050 s"},
		{"a write after the release is no overstay", LayerOverstay,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).release("w1.c0", "a", 5, 6, lb.AnswerOK).write(10, "w1.c0", "a", nil, landed, 0), Valid, 0, ""},
		{"many late writes of one holder", LayerOverstay,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).write(110, "w1.c0", "a", nil, landed, 0).write(120, "w1.c0", "a", nil, landed, 0), Invalid, 1, ""},
		{"granted after its own lease", LayerOverstay,
			tell(plan{}).granted("w1.c0", "a", 0, 200, 100).write(210, "w1.c0", "a", nil, landed, 0), Invalid, 1, "0.110 s after"},

		{"no tokens", LayerToken, tell(plan{}).granted("w1.c0", "a", 0, 1, 0), Vacuous, 0, ""},
		{"promised but missing", LayerToken, tell(plan{Traits: lb.Traits{Fenced: true}}).granted("w1.c0", "a", 0, 1, 0), Invalid, 1, "without a token"},
		{"rising", LayerToken, tell(plan{}).token("w1.c0", "a", 0, 1, 5).token("w2.c0", "b", 2, 3, 6), Valid, 0, ""},
		{"falling", LayerToken, tell(plan{}).token("w1.c0", "a", 0, 1, 5).token("w2.c0", "b", 2, 3, 4), Invalid, 1, "a lower token 4"},
		{"falling while they overlap", LayerToken, tell(plan{}).token("w1.c0", "a", 0, 2, 5).token("w2.c0", "b", 2, 3, 4), Valid, 0, ""},
		{"repeated", LayerToken, tell(plan{}).token("w1.c0", "a", 0, 2, 5).token("w2.c0", "b", 1, 3, 5), Invalid, 1, "the same token 5"},

		{"a log that does not fit together", LayerStore, tornLog(), Undecided, 0, "is 7, but 1 was there"},
		{"released before the write", LayerStore, releasedEarly(), Invalid, 1, "it had called release at 0.005 s"},
		{"both still believed", LayerStore, bothBelieve(), Invalid, 1, "by all it knew it held the lock until"},

		{"nobody asks", LayerProgress, tell(plan{}).end(10), Vacuous, 0, ""},
		{"never healed", LayerProgress, tell(plan{}).busy(10, 2).strike(50), Undecided, 0, "never healed"},
		{"too short to tell", LayerProgress,
			tell(plan{}).busy(10, 2).fault(50, 60, true).acquire("w1.c0", "x", 55, 1000, history.Event{Result: lb.AnswerUnknown}).end(1000), Undecided, 0, "0.940 s only"},
		{"stuck", LayerProgress,
			tell(plan{}).busy(10, 2).fault(50, 60, true).acquire("w1.c0", "x", 55, 11000, history.Event{Result: lb.AnswerUnknown}).end(11000), Invalid, 1, "nobody got the lock from 0.060 s to 11.000 s"},
		{"stuck for clients that poll", LayerProgress, polling(), Invalid, 1, "w1.c0"},
		{"held all the time is not stuck", LayerProgress,
			tell(plan{}).granted("w2.c0", "h", 0, 61, 0).fault(50, 60, true).acquire("w1.c0", "x", 55, 11000, history.Event{Result: lb.AnswerUnknown}).end(11000), Valid, 0, ""},
		{"nobody asked any more", LayerProgress, tell(plan{}).fault(1, 2, true).busy(10, 2).end(12000), Valid, 0, "longest time asked for without a grant 0.009 s"},
		{"releases of a lock that was not held", LayerProgress,
			tell(plan{}).granted("w1.c0", "a", 0, 1, 100).release("w1.c0", "a", 150, 160, lb.AnswerLost), Valid, 0, "1 release of a lock not held"},

		{"in order", LayerOrder, tell(plan{}).granted("w1.c0", "a", 0, 3, 4).granted("w2.c0", "b", 1, 5, 6), Valid, 0, "0 inversions"},
		{"out of order", LayerOrder,
			tell(plan{}).granted("w1.c0", "a", 0, 9, 10).granted("w2.c0", "b", 1, 3, 4).granted("w3.c0", "c", 2, 5, 6), Valid, 0, "2 inversions"},
		{"one client has all", LayerOrder,
			tell(plan{}).granted("w1.c0", "a", 0, 9, 10).acquire("w2.c0", "b", 1, 8, history.Event{Result: lb.AnswerFailed}), Valid, 0, "index 0.500 over 2 clients, longest wait 0.009 s"},
	}
	for _, tt := range tests {
		t.Run(tt.layer+"/"+tt.name, func(t *testing.T) {
			if tt.story.events[0].At > at(0) { // sentences count from 0
				tt.story.add(0, history.Event{Kind: history.KindSilent, Worker: "nobody", Call: at(0)})
			}
			l := layerOf(tt.story.check(), tt.layer)
			text := l.Summary
			if len(l.Findings) > 0 {
				text = l.Findings[0].Sentence
			}
			if l.Verdict != tt.verdict || l.Count != tt.count || !strings.Contains(text, tt.says) {
				t.Errorf("got %s, %d findings, want %s, %d, %q:\n%+v", l.Verdict, l.Count, tt.verdict, tt.count, tt.says, l)
			}
		})
	}
}

func (s *story) renew(client, id string, t, until int) *story {
	return s.add(t, history.Event{Kind: history.KindRenew, Client: client, Lock: "l", ID: id, Until: at(until)})
}

func (s *story) lost(client, id string, t int) *story {
	return s.add(t, history.Event{Kind: history.KindLost, Client: client, Lock: "l", ID: id})
}

func (s *story) dead(worker string, t int) *story {
	return s.add(t, history.Event{Kind: history.KindDead, Worker: worker})
}

func (s *story) silent(worker string, from, to int) *story {
	return s.add(to, history.Event{Kind: history.KindSilent, Worker: worker, Call: at(from)})
}

func (s *story) strike(t int) *story {
	return s.add(t, history.Event{Kind: history.KindFault, Name: "some-fault", Phase: "strike"})
}

func (s *story) shared(client, id string, call, ret int) *story {
	return s.acquire(client, id, call, ret, history.Event{Shared: true})
}

func (s *story) token(client, id string, call, ret int, token uint64) *story {
	return s.acquire(client, id, call, ret, history.Event{Token: token, Until: at(ret)})
}

func tornLog() *story {
	s := tell(history.Plan{}).granted("w1.c0", "a", 0, 1, 0)
	s.write(2, "w1.c0", "a", s.read(1, "w1.c0", "a"), landed, 0)
	s.values[CopyPlain] = 7
	s.read(3, "w1.c0", "a")
	return s
}

func releasedEarly() *story {
	s := tell(history.Plan{}).granted("w1.c0", "a", 0, 1, 100)
	base := s.read(2, "w1.c0", "a")
	s.release("w1.c0", "a", 5, 6, lb.AnswerOK).granted("w2.c0", "b", 2, 7, 107)
	s.write(9, "w2.c0", "b", s.read(8, "w2.c0", "b"), landed, 0)
	return s.write(10, "w1.c0", "a", base, landed, 0)
}

func bothBelieve() *story {
	s := tell(history.Plan{}).granted("w1.c0", "a", 0, 1, 100)
	base := s.read(2, "w1.c0", "a")
	s.granted("w2.c0", "b", 2, 7, 107)
	s.write(9, "w2.c0", "b", s.read(8, "w2.c0", "b"), landed, 0)
	return s.write(10, "w1.c0", "a", base, landed, 0)
}

func polling() *story {
	s := tell(history.Plan{}).busy(10, 2).fault(50, 60, true)
	for t := 60; t < 11000; t += 50 {
		s.acquire("w1.c0", "try-"+time.Duration(t).String(), t, t+1, history.Event{Result: lb.AnswerFailed})
	}
	return s.end(11000)
}
