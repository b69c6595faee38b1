package checker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestVerifyEdges: witnesses with one flaw each, which no other rule would notice.
func TestVerifyEdges(t *testing.T) {
	lost := func(id int32) Op { return Op{Call: 1, Return: 9, ID: id, Kind: Release, Result: Lost} }
	for _, tt := range []struct {
		name string
		ops  []Op
		w    Witness
	}{
		{"a point appears twice", []Op{lost(0)}, Witness{{At: 2}, {At: 3}}},
		{"time goes backwards", []Op{lost(0), lost(1)}, Witness{{At: 4, Op: 0}, {At: 3, Op: 1}}},
		{"what failed takes effect", []Op{{Call: 1, Return: 2, Result: Fail}}, Witness{{At: 1}}},
		{"lost before the grant that its client had seen", []Op{{Call: 1, Return: 5}, {Call: 5, Return: 6, Kind: Release, Result: Lost, After: true}},
			Witness{{At: 5, Op: 1}, {At: 5, Op: 0}}},
		{"lost while it is shared", []Op{{Call: 1, Return: 2, Shared: true}, lost(0)}, Witness{{At: 1, Op: 0}, {At: 3, Op: 1}}},
		{"taken again", []Op{{Call: 1, Return: 2}, {Call: 3, Return: 4, Kind: Release}, {Call: 5, Return: 6}},
			Witness{{At: 1, Op: 0}, {At: 3, Op: 1}, {At: 5, Op: 2}}},
		{"re-entered beside somebody else", []Op{{Call: 1, Return: 1, Owner: 1, Shared: true}, {Call: 2, Return: 2, ID: 1, Owner: 2, Shared: true}, {Call: 3, Return: 3, ID: 2, Owner: 1}},
			Witness{{At: 1, Op: 0}, {At: 2, Op: 1}, {At: 3, Op: 2}}},
	} {
		if err := Verify(tt.ops, tt.w, 1); err == nil {
			t.Errorf("%s: the verifier accepts it", tt.name)
		}
	}
	locks := []Op{{Call: 5, Return: 5}, {Call: 1, Return: 1, ID: 1, Lock: 1}}
	if err := Verify(locks, Witness{{At: 5, Op: 0}, {At: 1, Op: 1}}, 1); err != nil {
		t.Errorf("the points of two locks need no order: %v", err)
	}
}

// TestModelOfMany: the model that confirms counterexamples tells a hundred holders apart.
func TestModelOfMany(t *testing.T) {
	var ops []Op
	for id := range int32(100) {
		ops = append(ops, Op{Call: lb.Instant(id), Return: lb.Instant(id), ID: id, Shared: true},
			Op{Call: lb.Instant(200 + id), Return: lb.Instant(200 + id), ID: id, Kind: Release})
	}
	if got := Linearizable(ops, 1, time.Minute); got != porcupine.Ok {
		t.Errorf("a hundred readers are %s", got)
	}
}

// TestMeasures is what is measured beside the verdicts.
func TestMeasures(t *testing.T) {
	of := func(text string) Result {
		s := shorthand.Must(text)
		return judge(s.Plan, s.Events)
	}
	if r := of(`1 c A a;2 r A a ok;3 C A a`); r.Sections != 0 {
		t.Errorf("a release without a reply ends no section, but there are %d", r.Sections)
	}
	if s := layerOf(of(`1 c A a;2 c B b;3 r A a ok;3 r B b ok`), LayerOrder).Summary; !strings.Contains(s, "0 inversions") {
		t.Errorf("two grants of one instant: %s", s)
	}
	woken := of(`1 c A a;2 wake A watch;3 wake A retry-delay;4 wake A retry-delay;5 r A a ok`)
	if woken.Layers == nil || woken.Layers[6].Name != LayerOrder {
		t.Fatalf("%+v", woken.Layers)
	}
	s := shorthand.Must(`1 c A a;2 wake A watch;3 wake A retry-delay;4 wake A retry-delay;5 r A a ok`)
	s.Events[4].Requests = 3
	if got := layerOf(judge(s.Plan, s.Events), LayerOrder).Summary; !strings.Contains(got, "3.0 requests per grant, 1.0 waiters woken and 2.0 polls per grant") {
		t.Error(got)
	}
	two := of(`1 c A a;2 r A a ok;3 write A a seq=1 plain=0/5/6;4 write A a seq=2 plain=6/0/1;
		5 c A a lock=m;6 r A a ok lock=m;7 write A a lock=m seq=3 plain=0/0/1;8 write A a lock=m seq=4 plain=1/0/1`)
	if c := two.Copies[CopyPlain]; c.Lost != 1+1 || c.Stale != 3 || c.Writes != 4 {
		t.Errorf("two locks: %+v", c)
	}
	struck := of(`ms;0 c A a;1 r A a ok until=2;100 fault f strike;150 c B b;400 fault f healed;500 fault g strike;600 fault g healed;700 r B b ok;700 end`)
	if struck.OutageMS != 550 {
		t.Errorf("the outage begins with the first strike, but is %v ms", struck.OutageMS)
	}
	late := of(`1 c A a;2 r A a ok until=5;9 write A a seq=1 plain=0/0/1`)
	if late.FirstViolationMS >= 0 || harmed(late) {
		t.Errorf("a late write that hurts nobody is a hazard only: %+v", late)
	}
	many := tell(history.Plan{})
	for i := range 12 {
		many.granted("A", "a"+string(rune('a'+i)), 10*i, 10*i+1, 10*i+5).granted("B", "b"+string(rune('a'+i)), 10*i, 10*i+2, 10*i+5)
	}
	if l := layerOf(many.check(), LayerBelief); l.Count != 12 || len(l.Findings) != keep {
		t.Errorf("%d findings, counted %d", len(l.Findings), l.Count)
	}
}

// TestOutcomeEdges is where the outcome of a run changes.
func TestOutcomeEdges(t *testing.T) {
	type plan = history.Plan
	for _, tt := range []struct {
		name   string
		story  *story
		want   lb.Outcome
		reason string
	}{
		{"ten sections", tell(plan{}).busy(10, 10), lb.Safe, ""},
		{"five contended", tell(plan{}).alone(12).busy(2000, 6), lb.Safe, ""},
		{"four contended", tell(plan{}).alone(12).busy(2000, 5), lb.Inconclusive, "too few contended sections: 17 sections, and 4 acquires while"},
		{"so little, since most acquires failed", tell(plan{}).alone(12).busy(2000, 5).
			acquire("C", "c1", 3000, 3001, history.Event{Result: lb.AnswerFailed, Error: true, Note: "no such\n  key"}).
			acquire("C", "c2", 3002, 3003, history.Event{Result: lb.AnswerFailed, Error: true, Note: "another"}), lb.Inconclusive,
			"too few contended sections: 17 sections, and 4 acquires while another client relied on the lock; 2 acquires ended in an error, such as: no such key"},
		{"one fault was proven, another was not", tell(plan{}).busy(10, 12).fault(60, 70, true).fault(80, 90, false), lb.Safe, ""},
		{"of a list both were proven", tell(plan{}).busy(10, 12).planned("a,b").struck("b", 60, 70, true).struck("a", 80, 90, true), lb.Safe, ""},
		{"of a list one was not", tell(plan{}).busy(10, 12).planned("a,b").struck("a", 60, 70, true).struck("b", 80, 90, false), lb.Inconclusive, "b of the list had no effect: measured"},
		{"of a list one never struck", tell(plan{}).busy(10, 12).planned("a,b,c").struck("a", 60, 70, true).struck("c", 80, 90, true), lb.Inconclusive, "b of the list had no effect: measured"},
		{"a list names one twice, and it struck once", tell(plan{}).busy(10, 12).planned("a,a").struck("a", 60, 70, true), lb.Inconclusive, "a of the list had no effect: measured"},
		{"of a mix one will do", tell(plan{}).busy(10, 12).planned("random").struck("a", 60, 70, true).struck("b", 80, 90, false), lb.Safe, ""},
		{"it says why it never struck", tell(plan{}).busy(10, 12).planned("pause").
			add(150, history.Event{Kind: history.KindFault, Name: "pause", Phase: "healed", Note: "no such leader"}), lb.Inconclusive, "the fault never struck: no such leader"},
		{"somebody else's release breaks the lock for its holder",
			tell(plan{}).granted("A", "a", 0, 1, 100).release("B", "a", 2, 3, lb.AnswerOK).granted("C", "c", 4, 5, 90), lb.Broken, "double grant: A and C both relied"},
	} {
		if r := tt.story.check(); r.Outcome != tt.want || !strings.HasPrefix(r.Reason, tt.reason) {
			t.Errorf("%s: %s %q, want %s %q", tt.name, r.Outcome, r.Reason, tt.want, tt.reason)
		}
	}
	for _, o := range []lb.Outcome{lb.Check, lb.Fence, lb.Stuck, lb.Broken} {
		if c := Merge([]Result{{Outcome: o}}, lb.Info{}); c.Violations != 1 {
			t.Errorf("a run that is %s counts as %d violations", o, c.Violations)
		}
	}
}

// TestOnlineEdges: what the watcher says, by the acquisitions of each finding.
func TestOnlineEdges(t *testing.T) {
	const slack = 5
	for _, tt := range []struct {
		name, text string
		slack      time.Duration
		want       []string
	}{
		{"an unclear outcome is no grant", `1 c A a;2 r A a unknown;3 c B b;4 r B b ok;9 end`, 0, nil},
		{"somebody else's release ends nothing", `1 c A a;2 r A a ok;3 C B a;4 R B a ok;5 c C c;6 r C c ok;9 end`, 0, []string{"a c"}},
		{"the process that a client says", `1 c A a worker=w;2 r A a ok;3 dead w;4 c B b;5 r B b ok;9 end`, 0, nil},
		{"and no other", `1 c w.A a worker=v;2 r w.A a ok;3 dead w;4 c B b;5 r B b ok;9 end`, 0, []string{"a b"}},
		{"a renewal of another grant", `1 c A a;2 r A a ok until=10;3 c B b;11 r B b ok until=12;12 renew B b until=90;13 C B b;14 c C c;14 r C c ok;30 end`, slack, nil},
		{"a clash is told once", `1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 end;6 step A a s;7 step A a s`, 0, []string{"a b"}},
		{"told within the slack, behind others", `1 c A a;2 r A a ok;3 c B b;60 r B b ok;62 step B b s;58 C A a;99 end`, slack, nil},
		{"told behind the slack", `1 c A a;2 r A a ok;3 c B b;60 r B b ok;66 step B b s;58 C A a;99 end`, slack, []string{"a b"}},
		{"a lease that ends soon", `1 c A a;2 r A a ok until=100;3 c B b;97 r B b ok;200 end`, slack, []string{"a b"}},
		{"a grant that is told late", `1 c A a;2 r A a ok until=100;3 c B b;3 c C c;103 r B b ok until=104;99 r C c ok until=102;200 end`, slack, []string{"a c"}},
		{"and behind the next of the one it clashes with", `1 c A a;2 r A a ok until=100;3 c C c;101 c A d;103 r A d ok until=104;99 r C c ok until=102;200 end`, slack, []string{"a c"}},
	} {
		var got []string
		for _, f := range watch(&Online{Slack: tt.slack}, shorthand.Must(tt.text).Events) {
			got = append(got, strings.Join(f.IDs, " "))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: found %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestLongWorkIsNoOutage: who works for long has the lock, and nobody misses it; who is frozen there
// keeps the others from it.
func TestLongWorkIsNoOutage(t *testing.T) {
	for _, c := range []struct {
		name   string
		plan   history.Plan
		frozen bool
		want   float64
	}{
		{"where the plan has none", history.Plan{TTL: time.Second}, false, 2000},
		{"long work", history.Plan{TTL: time.Second, Work: "2ttl"}, false, 11},
		{"frozen", history.Plan{TTL: time.Second, Work: "2ttl"}, true, 1500},
	} {
		s := tell(c.plan).busy(10, 12).acquire("w1.c0", "long", 195, 200, history.Event{})
		s.add(205, history.Event{Kind: history.KindCall, Op: history.OpAcquire, Client: "w2.c0", Lock: "l", ID: "waits"})
		if c.frozen {
			s.silent("w1", 500, 2000)
		}
		s.release("w1.c0", "long", 2195, 2197, lb.AnswerOK)
		s.add(2206, history.Event{Kind: history.KindReturn, Op: history.OpAcquire, Client: "w2.c0", Lock: "l", ID: "waits"})
		s.release("w2.c0", "waits", 2207, 2208, lb.AnswerOK)
		if r := Check(t.Context(), s.plan, indexed(s.events)); r.OutageMS < c.want-20 || r.OutageMS > c.want+20 {
			t.Errorf("%s: an outage of %v ms, want about %v", c.name, r.OutageMS, c.want)
		}
	}
}
