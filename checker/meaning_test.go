package checker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestMeaning is what was once read wrongly: each history, in the notation of
// docs/history.md, with what the layers must say.
func TestMeaning(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"a return answers the last call of its client, not the oldest", `
			1 c A a;2 r A a ok;3 C A a;4 c B b;5 r B b ok;6 C A a;7 R A a lost;8 C B b;9 R B b ok
			⇒ grant valid;⇒ belief valid`},
		{"and acquits nobody", `
			1 c A a;2 r A a ok;3 C A a;4 c B b;5 r B b ok;6 C A a;7 R A a ok;8 C B b;9 R B b ok
			⇒ grant invalid`},
		{"somebody else's release ends no belief", `
			1 c A a;2 r A a ok until=100;3 C B a;4 R B a ok;5 c C c;6 r C c ok until=105;50 C A a
			⇒ grant valid;⇒ belief invalid`},
		{"one's own does, even before somebody else's", `
			1 c A a;2 r A a ok until=100;3 C A a;4 C B a;5 R B a ok;6 c C c;7 r C c ok until=105
			⇒ grant valid;⇒ belief valid`},
		{"a failed release leaves renewals on", `
			2 c A a;2 r A a ok until=300;250 C A a;251 R A a fail;290 renew A a until=600;305 c B b;311 r B b ok
			⇒ grant invalid;⇒ belief valid`},
		{"an unclear one switches them off", `
			2 c A a;2 r A a ok until=300;250 C A a;251 R A a unknown;290 renew A a until=600;305 c B b;311 r B b ok
			⇒ grant valid;⇒ belief valid`},
		{"what is confirmed at the call of the release counts", `
			2 c A a;2 r A a ok until=300;250 renew A a until=600;250 C A a;251 R A a lost
			⇒ grant invalid`},
		{"an unclear re-entry", `reentrant
			2 c A a;2 r A a ok;3 c A b;4 r A b unknown;5 C A b;6 R A b ok;7 C A a;8 R A a ok
			⇒ grant valid`},
		{"a failed release of the outer hold", `reentrant
			1 c A a;2 r A a ok;3 C A a;4 R A a fail;5 c A b;6 r A b ok;7 C A b;8 R A b ok;9 C A a;10 R A a ok
			⇒ grant valid`},
		{"the inner hold is lost while the outer is held", `reentrant
			1 c A a;2 r A a ok;3 c A b;4 r A b ok;5 C A b;6 R A b lost
			⇒ grant invalid`},
		{"the inner hold outlives the outer, and keeps others out", `reentrant
			1 c A a;2 r A a ok;3 c A b;4 r A b ok;5 C A a;6 R A a ok;7 c B c;8 r B c ok;9 C A b;10 R A b ok
			⇒ grant invalid;⇒ belief invalid`},
		{"a re-entry is not re-entry before the grant", `reentrant
			1 c A a;2 r A a ok;3 c B b;4 r B b ok
			⇒ grant invalid`},
		{"a semaphore has no shared mode", `permits 2
			1 c A a shared;2 r A a ok;3 c B b shared;4 r B b ok;5 c C c shared;6 r C c ok;7 c D d;8 r D d ok
			⇒ grant undecided;⇒ belief undecided;⇒ progress undecided`},
		{"nor is it reentrant", `permits 2;reentrant
			1 c A a;2 r A a ok;3 c A b;4 r A b ok
			⇒ grant undecided;⇒ belief undecided`},
		{"one token for a hold and its re-entries", `reentrant;fenced
			1 c A a;2 r A a ok token=5;3 c A b;4 r A b ok token=5;5 C A b;6 R A b ok;7 c A c;8 r A c ok token=5
			⇒ token valid`},
		{"but not for the next hold", `reentrant;fenced
			1 c A a;2 r A a ok token=5;3 C A a;4 R A a ok;5 c A b;6 r A b ok token=5
			⇒ token invalid`},
		{"nor for another client", `reentrant;fenced
			1 c A a;2 r A a ok token=5;3 c B b;4 r B b ok token=5
			⇒ token invalid`},
		{"readers may have one token", `fenced
			1 c A a shared;2 r A a ok token=5;3 c B b shared;4 r B b ok token=5
			⇒ token valid`},
		{"a reader and a writer may not", `fenced
			1 c A a shared;2 r A a ok token=5;3 C A a;4 R A a ok;5 c B b;6 r B b ok token=5
			⇒ token invalid`},
		{"lost in the instant of the grant", `
			1 c A a;5 r A a ok;5 C A a;6 R A a lost
			⇒ grant invalid`},
		{"lost in the instant of the grant, to somebody else", `
			1 c A a;5 r A a ok;5 C B a;6 R B a lost
			⇒ grant valid`},
		{"lost in the instant at which it was given back", `
			1 c A a;5 r A a ok;5 C A a;5 R A a ok;5 C A a;5 R A a lost
			⇒ grant valid`},
		{"a process has the name before the last dot", `
			1 c db.eu.c0 a;2 r db.eu.c0 a ok;3 dead db;4 c B b;5 r B b ok
			⇒ grant invalid;⇒ belief invalid`},
		{"and is the one that dies", `
			1 c db.eu.c0 a;2 r db.eu.c0 a ok;3 dead db.eu;4 c B b;5 r B b ok
			⇒ grant valid;⇒ belief valid`},
		{"or the one that the client says", `
			1 c A a worker=db;2 r A a ok;3 dead db;4 c B b;5 r B b ok
			⇒ grant valid;⇒ belief valid`},
		{"the first death counts", `
			1 c w.A a;2 r w.A a ok;3 dead w;4 c B b;5 r B b ok;9 dead w
			⇒ grant valid;⇒ belief valid`},
		{"the dead don't overstay", `
			1 c w.A a;2 r w.A a ok until=5;6 dead w;7 write w.A a seq=1 plain=0/0/1
			⇒ overstay valid`},
		{"the lease and its renewal ended before the grant was known", `
			1 c A a;2 renew A a until=5;9 r A a ok;10 write A a seq=1 plain=0/0/1
			⇒ overstay invalid`},
		{"the living do", `
			1 c w.A a;2 r w.A a ok until=5;7 write w.A a seq=1 plain=0/0/1;8 dead w
			⇒ overstay invalid`},
		{"the store's own order, whatever its clock", `
			1 c A a;2 r A a ok;9 read A a seq=1 plain=0;3 write A a seq=2 plain=0/0/1;4 read A a seq=3 plain=1
			⇒ store valid`},
		{"what is made of a base is the writer's business", `
			1 c A a;2 r A a ok;3 write A a seq=1 plain=7/7/4;4 write A a seq=2 plain=4/4/24
			⇒ store valid`},
		{"a stock that falls is lost track of, too", `
			1 c A a;2 r A a ok;3 write A a seq=1 plain=7/7/6;4 write A a seq=2 plain=6/7/6
			⇒ store invalid`},
		{"who reads again what it had read may rely on it", `
			1 c A a;2 r A a ok;3 read A a seq=1 plain=7;4 read A a seq=2 plain=7/7/landed
			⇒ store valid`},
		{"but not on what somebody has changed", `
			1 c A a;2 r A a ok;3 read A a seq=1 plain=7;4 write A a seq=2 plain=7/7/8;5 read A a seq=3 plain=8/7/landed
			⇒ store invalid`},
		{"and harms nobody if it knows better", `
			1 c A a;2 r A a ok;3 read A a seq=1 plain=7;4 write A a seq=2 plain=7/7/8;5 read A a seq=3 plain=8/7/skipped
			⇒ store valid`},
		{"readers need no token", `fenced
			1 c A a shared;2 r A a ok;3 C A a;4 R A a ok;5 c B b;6 r B b ok token=4
			⇒ token valid`},
		{"a grant may come in the instant in which the lock is given back", `
			1 c A a;2 r A a ok;5 C A a;6 R A a ok;3 c B b;5 r B b ok
			⇒ grant valid`},
		{"but not an instant before", `
			1 c A a;2 r A a ok;5 C A a;6 R A a ok;3 c B b;4 r B b ok
			⇒ grant invalid`},
		{"a late release proves nothing", `
			1 c A a;2 r A a ok until=10;11 c B b;12 r B b ok;13 C A a;14 R A a ok
			⇒ grant valid`},
		{"a renewal before the grant returned", `
			1 c A a;2 renew A a until=50;3 r A a ok until=20;30 c B b;31 r B b ok
			⇒ grant invalid;⇒ belief invalid`},
		{"a release before the ask is not a late one", `
			2 C A a;2 R A a ok;3 c B a;4 r B a ok until=2
			⇒ grant invalid`},
		{"a renewal behind one's own release, in one instant", `
			14 c D b;14 r D b ok until=12;14 C D b;14 renew D b until=20;17 R D b lost
			⇒ grant valid`},
		{"a renewal in the instant of somebody else's release", `
			2 c A a;2 r A a ok until=10;14 renew A a until=20;14 C B a;17 R B a lost
			⇒ grant valid`},
		{"a write within a lease of one instant", `
			1 c A a;2 r A a ok until=9;12 renew A a until=12;12 write A a seq=1 plain=0/0/1
			⇒ overstay valid`},
		{"a write before the grant is known, within its renewal", `
			3 c A a;8 renew A a until=12;8 write A a seq=1 plain=0/0/1;9 r A a ok until=7
			⇒ overstay valid`},
		{"tokens of one lock say nothing of another's", `
			1 c A a;2 r A a ok token=5;3 c B b lock=m;4 r B b ok lock=m
			⇒ token valid`},
		{"tokens of one client in one instant", `
			2 c A a;2 r A a ok token=3;2 c A b;4 r A b ok token=1
			⇒ token invalid`},
		{"tokens of two clients in one instant", `
			2 c A a;2 r A a ok token=3;2 c B b;4 r B b ok token=1
			⇒ token valid`},
		{"a re-entry in the instant of somebody else's release", `reentrant
			1 c A a;2 r A a ok token=3;4 C B a;5 R B a ok;5 c A b;6 r A b ok token=3
			⇒ token valid`},
		{"tries that take no time", `planned;ms
			0 fault f strike;0 fault f healed;1 c B a;1 r B a fail;800 c B b;800 r B b fail;1600 c B c;11000 end
			⇒ progress invalid`},
		{"a client that has gone on to something else waits no more", `planned;ms
			0 fault f strike;0 fault f healed;1 c B a;100 c B b lock=m;101 r B b ok lock=m until=200;20000 end
			⇒ progress valid`},
		{"a silence within a longer one", `planned;ms
			1 fault cut strike;2 fault cut healed;3000 c w.A a;1500 silent w call=1200;9000 silent w call=1100;13500 end
			⇒ progress undecided`},
		{"a fault that never struck is none", `ms
			1 fault cut healed;2 c A a;11000 end
			⇒ progress valid`},
		{"a renewal that gives a grant its end, in the instant of somebody else's release", `
			1 c A a;2 r A a ok;3 C C a;3 renew A a until=3;4 R C a lost
			⇒ grant valid`},
		{"a release before the ask is no end of the belief", `
			1 C A a;2 R A a fail;3 c A a;4 r A a ok;5 c B b;6 r B b ok
			⇒ belief invalid`},
		{"stuck", `planned;ms
			0 c A a;1 r A a ok until=1000;50 fault f strike;60 fault f healed;2000 c B b;13000 end
			⇒ progress invalid`},
		{"every worker is silent", `planned;ms
			0 c A a;1 r A a ok until=1000;2 fault f strike;3 fault f healed;4 c w.B b;14000 silent w call=5;14500 end
			⇒ progress undecided`},
		{"nobody asks between two tries", `planned;ms
			0 fault f strike;1 fault f healed;2 c A a;3 r A a fail;60000 c A b;60001 r A b fail
			⇒ progress undecided`},
		{"the lease of a holder that was killed still runs", `planned;ms
			0 c w.A a;1 r w.A a ok until=12000;50 fault f strike;60 fault f healed;70 dead w;2000 c v.B b;13000 end
			⇒ progress undecided`},
		{"a holder without a lease was killed", `planned;ms
			0 c w.A a;1 r w.A a ok;50 fault f strike;60 fault f healed;70 dead w;2000 c v.B b;13000 end
			⇒ progress invalid`},
		{"a second fault is in force", `planned;ms
			0 c A a;1 r A a ok until=1000;50 fault f strike;60 fault g strike;70 fault f healed;2000 c B b;13000 fault g healed;14000 end
			⇒ progress undecided`},
		{"another lock that was asked for a nanosecond", `planned
			0 c A a;1 r A a ok until=2;3 fault f strike;4 fault f healed;5 c B b;60000000000 c C c lock=m;60000000001 end
			⇒ progress invalid`},
		{"a lease of its own length is not stuck", `planned;ms
			50 fault f strike;60 fault f healed;61 c A h;62 r A h ok;70 c B b;20000 end
			⇒ progress valid`},
		{"in a history of somebody else nobody knows", `ms
			0 c A a;1 r A a ok until=1000;2000 c B b;33000 end
			⇒ progress valid`},
		{"asked for until its process was killed", `planned;ms
			0 c A a;1 r A a ok until=1000;2 fault f strike;3 fault f healed;2000 c w.B b;9000 dead w;33000 end
			⇒ progress undecided`},
		{"it was told lost, and nobody can get it", `planned;ms
			0 c A a;1 r A a ok;2 lost A a;3 fault f strike;4 fault f healed;5 c B b;11000 end
			⇒ progress invalid`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := shorthand.Must(tt.text)
			res := judge(s.Plan, s.Events)
			for _, want := range s.Wants {
				name, verdict, _ := strings.Cut(want, " ")
				if l := layerOf(res, name); string(l.Verdict) != verdict {
					t.Errorf("%s is %s, want %s: %s %+v", name, l.Verdict, verdict, l.Summary, l.Findings)
				}
			}
		})
	}
}

// TestOneShotClients: six hundred clients that each try once, in vain, ask as much as
// one that tries again and again.
func TestOneShotClients(t *testing.T) {
	s := tell(history.Plan{}).granted("h", "h", 0, 1, 5).fault(10, 20, true)
	for i := range 600 {
		s.acquire(fmt.Sprint("c", i), fmt.Sprint("a", i), 100*i+100, 100*i+101, history.Event{Result: lb.AnswerFailed})
	}
	if l := layerOf(s.check(), LayerProgress); l.Verdict != Invalid {
		t.Errorf("%+v", l)
	}
}

// TestMechanisms: what is found has its right name.
func TestMechanisms(t *testing.T) {
	for _, tt := range []struct{ text, layer, mechanism string }{
		{`1 c A a;2 r A a ok until=100;3 C A a;4 R A a lost`, LayerGrant, lb.VanishedGrant},
		{`1 c A a;2 r A a ok until=100;3 c B b;4 r B b ok`, LayerGrant, lb.DoubleGrant},
		{`1 C A a;2 R A a ok`, LayerGrant, ""},
		{`1 c A a;2 r A a ok;3 read A a seq=1 plain=0;4 C A a;5 R A a ok;6 c B b;7 r B b ok;8 read B b seq=2 plain=0;9 write B b seq=3 plain=0/0/1;
		  10 C B b;11 R B b ok;12 write A a seq=4 plain=1/0/1`, LayerStore, lb.EarlyRelease},
		{`1 c A a;2 r A a ok until=5;3 read A a seq=1 plain=0;6 c B b;7 r B b ok;8 read B b seq=2 plain=0;9 write B b seq=3 plain=0/0/1;
		  10 C B b;11 R B b ok;12 write A a seq=4 plain=1/0/1`, LayerStore, lb.Overstay},
		{`1 c A a;2 r A a ok;3 read A a seq=1 plain=0;6 c B b;7 r B b ok;8 read B b seq=2 plain=0;9 write B b seq=3 plain=0/0/1;
		  12 write A a seq=4 plain=1/0/1`, LayerStore, lb.DoubleGrant},
	} {
		l := layerOf(judge(history.Plan{}, shorthand.Must(tt.text).Events), tt.layer)
		if len(l.Findings) != 1 || l.Findings[0].Mechanism != tt.mechanism || l.Findings[0].Lock != "l" {
			t.Errorf("%s: %+v, want %q", tt.text, l, tt.mechanism)
		}
	}
}

// TestUndecidedIsNoAcquittal: harm with a layer that came to no verdict is not taken
// for less harm than there may be.
func TestUndecidedIsNoAcquittal(t *testing.T) {
	fenced := history.Plan{Traits: lb.Traits{Fenced: true}}
	blind := func(name string) []layer {
		all := append([]layer(nil), layers...)
		for i := range all {
			if all[i].name == name {
				all[i].judge = func(*run) Layer { panic("blind") }
			}
		}
		return all
	}
	for _, tt := range []struct {
		story  *story
		blind  string
		want   lb.Outcome
		reason string
	}{
		{double(fenced), LayerToken, lb.Inconclusive, "token is undecided"},
		{late(history.Plan{}, skipped, 0), LayerGrant, lb.Inconclusive, "grant is undecided"},
		{late(fenced, landed, refused), LayerBelief, lb.Inconclusive, "belief is undecided"},
		{late(history.Plan{}, landed, 0), LayerGrant, lb.Broken, "overstay: "},
		{tell(history.Plan{}).busy(10, 12).fault(200, 210, true).taken(205, 11000), LayerToken, lb.Stuck, "ghost: "},
	} {
		r := check(t.Context(), Options{}, tt.story.plan, indexed(tt.story.events), blind(tt.blind))
		if r.Outcome != tt.want || !strings.HasPrefix(r.Reason, tt.reason) {
			t.Errorf("%s blind: %s %q, want %s %q", tt.blind, r.Outcome, r.Reason, tt.want, tt.reason)
		}
		if !harmed(r) {
			t.Errorf("%s blind: the harm is forgotten", tt.blind)
		}
	}
}

// TestDoubts: of a history that is not whole nothing is claimed.
func TestDoubts(t *testing.T) {
	s := double(history.Plan{})
	ix := indexed(s.events)
	ix.Doubts = []string{"events/w2.jsonl is missing"}
	r := Check(t.Context(), s.plan, ix)
	if r.Outcome != lb.Inconclusive || !strings.Contains(r.Reason, "events/w2.jsonl is missing") {
		t.Errorf("%s %q", r.Outcome, r.Reason)
	}
}

// TestOutageBeginsWithTheStrike: what was before it is not the fault's doing.
func TestOutageBeginsWithTheStrike(t *testing.T) {
	s := tell(history.Plan{}).granted("A", "a", 0, 1, 2).acquire("B", "b", 3, 900, history.Event{}).fault(500, 600, true).end(1000)
	if r := s.check(); r.OutageMS != 400 {
		t.Errorf("outage %v ms", r.OutageMS)
	}
}

// TestManyAcquisitionsAreConfirmed: more than fit into one machine word.
func TestManyAcquisitionsAreConfirmed(t *testing.T) {
	for _, readers := range []int32{10, 64, 65, 200} {
		var ops []Op
		for id := range readers { // one after the other, each overlapping the next
			from := lb.Instant(10 * id)
			ops = append(ops, Op{Call: from, Return: from, ID: id, Shared: true}, Op{Call: from + 12, Return: from + 13, ID: id, Kind: Release})
		}
		writer := Op{Call: 5, Return: lb.Instant(10 * readers), ID: readers, Result: Unknown}
		ops = append(ops, writer, Op{Call: 6, Return: lb.Instant(10 * readers), ID: readers, Kind: Release})
		ops[len(ops)-2].Return = Forever
		res := Grant(ops, 1)
		if res.Count != 1 || len(res.Violations[0].Ops) < int(readers) {
			t.Fatalf("%d readers: %d violations", readers, res.Count)
		}
		if got := res.Violations[0].confirmed(ops, 1); got != "Illegal" {
			t.Errorf("%d readers: %s", readers, got)
		}
	}
}

// TestCorners: no shape of a history makes a layer slow. Of eight times as many operations a check that
// takes n·log n takes some ten times as long, and one that looks at all pairs 64 times.
func TestCorners(t *testing.T) {
	type events = history.Events
	var n int
	ev := func(h events, t int, kind history.Kind, op, client, id string, result lb.Answer, shared bool) events {
		return append(h, history.Event{At: lb.Instant(t), Kind: kind, Op: op, Client: client, Lock: "l", ID: id, Result: result, Shared: shared})
	}
	call, ret, acq, rel := history.KindCall, history.KindReturn, history.OpAcquire, history.OpRelease
	for name, make := range map[string]func() events{
		"all passing through one hold": func() (h events) {
			h = ev(h, 0, call, acq, "h", "h", 0, false)
			h = ev(h, 1, ret, acq, "h", "h", lb.AnswerOK, false)
			for i := range n {
				c := fmt.Sprint(i)
				h = ev(h, 10*i+2, call, acq, c, c, 0, false)
				h = ev(h, 10*i+3, ret, acq, c, c, lb.AnswerUnknown, false)
				h = ev(h, 10*i+4, call, rel, c, c, 0, false)
				h = ev(h, 10*i+5, ret, rel, c, c, lb.AnswerOK, false)
			}
			return h
		},
		"all passing through a chain of readers": func() (h events) {
			for i := range n {
				r, w := fmt.Sprint("r", i), fmt.Sprint("w", i)
				h = ev(h, 10*i, call, acq, r, r, 0, true)
				h = ev(h, 10*i, ret, acq, r, r, lb.AnswerOK, true)
				h = ev(h, 10*i+15, call, rel, r, r, 0, false)
				h = ev(h, 10*i+16, ret, rel, r, r, lb.AnswerOK, false)
				h = ev(h, 10*i+1, call, acq, w, w, 0, false)
				h = ev(h, 10*i+2, ret, acq, w, w, lb.AnswerUnknown, false)
				h = ev(h, 10*i+3, call, rel, w, w, 0, false)
				h = ev(h, 10*i+4, ret, rel, w, w, lb.AnswerOK, false)
			}
			return h
		},
		"readers at once": func() (h events) {
			for i := range n {
				c := fmt.Sprint(i)
				h = ev(h, i, call, acq, c, c, 0, true)
				h = ev(h, n+i, ret, acq, c, c, lb.AnswerOK, true)
				h = ev(h, 2*n+i, call, rel, c, c, 0, false)
				h = ev(h, 3*n+i, ret, rel, c, c, lb.AnswerOK, false)
			}
			return h
		},
		"writers among readers at once": func() (h events) {
			for i := range n / 2 {
				c, w := fmt.Sprint(i), fmt.Sprint("w", i)
				h = ev(h, i, call, acq, c, c, 0, true)
				h = ev(h, n, ret, acq, c, c, lb.AnswerOK, true)
				h = ev(h, n+10*i+1, call, acq, w, w, 0, false)
				h = ev(h, n+10*i+2, ret, acq, w, w, lb.AnswerOK, false)
				h = ev(h, n+10*i+3, call, rel, w, w, 0, false)
				h = ev(h, n+10*i+4, ret, rel, w, w, lb.AnswerOK, false)
			}
			return h
		},
		"nobody ever gives it back": func() (h events) {
			for i := range n {
				c := fmt.Sprint(i)
				h = ev(h, 2*i, call, acq, c, c, 0, false)
				h = ev(h, 2*i+1, ret, acq, c, c, lb.AnswerOK, false)
			}
			return h
		},
		"one client, over and over, never released": func() (h events) {
			for i := range n {
				id := fmt.Sprint(i)
				h = ev(h, 2*i, call, acq, "c", id, 0, i%2 == 0)
				h = ev(h, 2*i+1, ret, acq, "c", id, lb.AnswerOK, i%2 == 0)
			}
			return h
		},
		"one hold, renewed and released over and over": func() (h events) {
			h = ev(h, 0, call, acq, "c", "c", 0, false)
			h = ev(h, 1, ret, acq, "c", "c", lb.AnswerOK, false)
			for i := range n {
				h = append(h, history.Event{At: lb.Instant(5*i + 2), Kind: history.KindRenew, Client: "c", Lock: "l", ID: "c", Until: lb.Instant(5*i + 4)})
				h = ev(h, 5*i+3, call, rel, "c", "c", 0, false)
				h = ev(h, 5*i+3, ret, rel, "c", "c", lb.AnswerFailed, false)
			}
			return h
		},
	} {
		for _, reentrant := range []bool{false, true} {
			plan := history.Plan{Algorithm: "x", Traits: lb.Traits{Reentrant: reentrant}}
			judged := func(operations int) time.Duration {
				n = operations
				h := make()
				start := testkit.Worked(t)
				ix, err := history.Of(h)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				Check(t.Context(), plan, ix)
				return testkit.Worked(t) - start
			}
			// What takes the square of the time takes 64 times as much for eight times as many.
			const few, times, most, tries, bound = 4_000, 8, 30, 5, 20 * time.Second
			// A collection of garbage more only adds to what is measured.
			little, much := judged(few), judged(times*few)
			for n := 1; n < tries && much > most*little && much < bound; n++ {
				little, much = min(little, judged(few)), min(much, judged(times*few))
			}
			if much > most*little || much > bound {
				t.Errorf("%s (reentrant %v): %d operations took %v, and %d %v: not in proportion", name, reentrant, few, little, times*few, much)
			}
		}
	}
}
