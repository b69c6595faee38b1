package checker

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestGhostOwner: who is named is who may own the lock, and nobody else.
func TestGhostOwner(t *testing.T) {
	never, failed := history.Event{Result: lb.AnswerUnknown}, history.Event{Result: lb.AnswerFailed}
	busy := func() *story { return tell(history.Plan{}).busy(10, 2).fault(50, 60, true) }
	for _, tt := range []struct {
		name  string
		story *story
		says  string
		ids   string
	}{
		{"the holder, not its sibling that waited", busy().granted("w1.c0", "h", 30, 40, 0).call("w1.c1", "s", 45).dead("w1", 55),
			": w1.c0 was killed at", "h"},
		{"the sibling, if the holder had given it back", busy().granted("w1.c0", "h", 30, 40, 0).call("w1.c1", "s", 42).
			release("w1.c0", "h", 45, 46, lb.AnswerOK).dead("w1", 55), ": w1.c1 was killed at", "s"},
		{"not the last clean release, where an acquire waits", busy().granted("w1.c0", "h", 30, 40, 0).call("w2.c0", "p", 42).
			release("w1.c0", "h", 45, 46, lb.AnswerOK), ": w2.c0 asked for it at", "p"},
		{"an unknown release", busy().granted("w1.c0", "h", 30, 40, 0).release("w1.c0", "h", 45, 46, lb.AnswerUnknown),
			": w1.c0 had called release at 0.043 s (unknown)", "h"},
		{"an unknown release or an unknown acquire", busy().granted("w1.c0", "h", 30, 40, 0).acquire("w2.c3", "u", 41, 50, never).
			release("w1.c0", "h", 45, 46, lb.AnswerUnknown), ": the owner may be w1.c0 or w2.c3: ", "h u"},
		{"not who had it before the last", busy().granted("w1.c0", "h", 30, 40, 0).release("w1.c0", "h", 41, 42, lb.AnswerUnknown).
			granted("w2.c0", "i", 43, 48, 0).release("w2.c0", "i", 49, 50, lb.AnswerUnknown), ": w2.c0 had called release", "i"},
		{"an acquire that was taken back", busy().acquire("w2.c3", "u", 41, 44, never).release("w2.c3", "u", 45, 46, lb.AnswerOK),
			": who owns it is not known: w6.c0, who was granted it last, had given it back at", ""},
		{"who failed while the lock was another's, and not who waits", busy().granted("w1.c0", "h", 30, 40, 0).acquire("w2.c0", "f", 41, 44, failed).call("w2.c1", "p", 42).
			release("w1.c0", "h", 45, 46, lb.AnswerOK), ": who owns it is not known: w2.c0 had asked for it at 0.039 s and failed at 0.042 s", "f"},
		{"not who failed before it was granted last", busy().acquire("w2.c0", "f", 24, 28, failed).granted("w1.c0", "h", 30, 40, 0).call("w2.c1", "p", 42).
			release("w1.c0", "h", 45, 46, lb.AnswerOK), ": who owns it is not known: w2.c1 asked for it at", "p"},
		{"of who fails again and again the last", busy().granted("w1.c0", "h", 30, 40, 0).acquire("w2.c0", "f", 41, 42, failed).acquire("w2.c0", "g", 43, 44, failed).
			release("w1.c0", "h", 45, 46, lb.AnswerOK), ": who owns it is not known: w2.c0 had asked for it at 0.041 s", "g"},
		{"nobody", tell(history.Plan{}).fault(50, 60, true), "although w9.c0 asked; some-fault", ""},
	} {
		s := tt.story.acquire("w9.c0", "x", 61, 11000, never).end(11000)
		l := layerOf(s.check(), LayerProgress)
		if l.Verdict != Invalid || !strings.Contains(l.Findings[0].Sentence, tt.says) || strings.Join(l.Findings[0].IDs, " ") != tt.ids {
			t.Errorf("%s: want %q, %q:\n%s %+v", tt.name, tt.says, tt.ids, l.Summary, l.Findings)
		}
	}
}

// call is an acquire that is never answered.
func (s *story) call(client, id string, t int) *story {
	return s.add(t, history.Event{Kind: history.KindCall, Op: history.OpAcquire, Client: client, Lock: "l", ID: id})
}
