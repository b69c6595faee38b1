package explore

import (
	"context"
	"slices"
	"testing"
)

// wantAll checks that a walk of the toy, as it hears answers, has one order of each class that its
// interleavings have where an answer is heard whenever it may be.
func wantAll(t *testing.T, m *toy, faults int) {
	t.Helper()
	m.allowed = faults
	free := *m
	if m.hears != atOnce {
		free.hears = later
	}
	classes, ok := free.all(t, faults)
	if !ok {
		t.Fatal("too many interleavings")
	}
	orders, _ := walked(t, m.rules, m, faults)
	wantEach(t, m.rules, orders, classes)
}

// TestLateAnswer: an answer may be late whatever another client does meanwhile: both before and
// after the end of the leases.
func TestLateAnswer(t *testing.T) {
	wantAll(t, &toy{bounds: Bounds{Clients: 2, Expiries: 1, Faults: 1}, ends: endsLeases, hears: asOrdersDo, lies: true, most: 10_000,
		plans: []toyPlan{{acquisitions: 1}, {acquisitions: 1, works: 1}}}, 1)
}

// asOrdersDo is when [order] lets answers be heard.
const asOrdersDo = atLast

// TestWakesLate: a wait in the server ends by time, or by what another client asks for, and one
// takes the occasion from the other.
func TestWakesLate(t *testing.T) {
	wantAll(t, &toy{bounds: Bounds{Clients: 2, Polls: 1}, push: true, wakes: true,
		plans: []toyPlan{{acquisitions: 1, works: 1, renewals: 1}, {acquisitions: 1}}}, 0)
}

// standingAt is an order in which clients stand at steps.
func standingAt(b Bounds, moves ...Move) *order {
	e := &engine{Bounds: b, ends: endsLeases, allowed: b.Faults}
	o := &order{e: e, changed: make(chan struct{}, 1), over: make(chan struct{}), asked: map[string]int{}, done: map[string]int{}}
	for _, name := range []string{"c1", "c2"} {
		o.clients = append(o.clients, &client{name: name, order: o, main: running, first: true})
	}
	for _, m := range moves {
		stand(o, m, false)
	}
	return o
}

func stand(o *order, m Move, again bool) {
	c := o.client(m.Client)
	c.holds = append(c.holds, &hold{move: m, open: make(chan error, 1), again: again, first: m.What == "setnx"})
}

// asks has the order let a request go.
func asks(t *testing.T, o *order, m Move) {
	t.Helper()
	if err := o.let(m); err != nil {
		t.Fatal(err)
	}
	o.had = append(o.had, m)
}

// TestFirstIsLost: the answer to the very first request may be lost, too.
func TestFirstIsLost(t *testing.T) {
	set := Move{"c1", Sends, "set"}
	o := standingAt(Bounds{Clients: 2, Polls: 1, Lost: 1, Faults: 1}, set, Move{"c2", Sends, "set"})
	if got, want := o.Enabled(), []Move{{"c1", Loses, "set"}, {"c2", Loses, "set"}, set, {"c2", Sends, "set"}}; !slices.Equal(got, want) {
		t.Errorf("%s, want %s", nameOf(got), nameOf(want))
	}
}

// TestAgainSinceTheFirst: a try of several requests may be worth repeating when another client
// asked for something after the first of them.
func TestAgainSinceTheFirst(t *testing.T) {
	setnx, get, del := Move{"c2", Sends, "setnx"}, Move{"c2", Sends, "take"}, Move{"c1", Sends, "del"}
	o := standingAt(Bounds{Clients: 2, Polls: 1}, setnx, del)
	o.had = []Move{{"c1", Sends, "setnx"}}
	asks(t, o, setnx) // it is held
	stand(o, get, false)
	asks(t, o, del)
	asks(t, o, get) // of what is gone
	again := Move{"c2", Calls, tryAgain}
	stand(o, again, true)
	if got, want := o.Enabled(), []Move{again}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", nameOf(got), nameOf(want))
	}
}

// TestLosesOne: of several servers, one loses an answer.
func TestLosesOne(t *testing.T) {
	lost := Move{"c1", Sends, "set to server 2"}
	o := standingAt(Bounds{Clients: 2, Lost: 1, Faults: 1}, lost)
	o.clients[0].holds[0].server = 2
	for range 3 {
		r, _ := relayed(t)
		o.clients[0].relays = append(o.clients[0].relays, r)
	}
	asks(t, o, Move{"c1", Loses, "set to server 2"})
	for i, r := range o.clients[0].relays {
		r.mu.Lock()
		if (r.loses != nil) != (i == 1) {
			t.Errorf("server %d loses its next answer: %t", i+1, r.loses != nil)
		}
		r.mu.Unlock()
	}
}

// TestTimeoutOfWhatHasEnded: it has ended from the beginning.
func TestTimeoutOfWhatHasEnded(t *testing.T) {
	h, _ := handsOf(t)
	above, end := context.WithCancel(t.Context())
	end()
	for range 100 {
		ctx, cancel := h.WithTimeout(above, 1)
		if ctx.Err() == nil {
			t.Fatal("it has not ended")
		}
		cancel()
	}
}

// TestAstrayFirst: when the first order always goes astray, the others are walked all the same.
func TestAstrayFirst(t *testing.T) {
	// Nothing is independent of anything.
	m := &toy{bounds: Bounds{Clients: 2}, plans: []toyPlan{{acquisitions: 1, looks: 2}, {acquisitions: 1, looks: 2}}, lies: true}
	want, _ := walked(t, m.rules, m, 0)
	for depth := 1; depth <= len(want[0]); depth++ {
		bad := want[0][:depth]
		has := func(moves []Move) bool { return len(moves) >= depth && slices.Equal(moves[:depth], bad) }
		got, w := walked(t, m.rules, &erring{Subject: m, errs: func(moves []Move) bool { return slices.Equal(moves, bad) }}, 0)
		if left := slices.DeleteFunc(slices.Clone(want), has); !slices.EqualFunc(got, left, slices.Equal[[]Move]) || w.astray != 1 {
			t.Errorf("after %s: %d orders, want %d; %d astray", nameOf(bad), len(got), len(left), w.astray)
		}
	}
}

// TestAstraySleeps: what could not be tried has not been seen, so that what is like it is walked.
func TestAstraySleeps(t *testing.T) {
	m := &toy{bounds: Bounds{Clients: 2}, plans: []toyPlan{{acquisitions: 1, works: 1}, {acquisitions: 1, works: 1}}, lies: true}
	// c1's work goes astray when it comes right after its request; c2's request may come first.
	s := &erring{Subject: m, errs: func(moves []Move) bool {
		return slices.Equal(moves, []Move{{"c1", Sends, "take"}, {Client: "c1", Do: Works}})
	}}
	want := "c1 sends take, c1 works, c2 sends take, c1 sends put, c2 works, c2 sends put"
	got, w := walked(t, m.rules, s, 0)
	if w.astray != 1 || !slices.ContainsFunc(got, func(moves []Move) bool { return nameOf(m.rules.normal(moves)) == want }) {
		t.Errorf("%d orders, %d astray, and none like %s", len(got), w.astray, want)
	}
}

// TestOneAstray: one order that goes astray each time is one, however often it was tried.
func TestOneAstray(t *testing.T) {
	m := &toy{bounds: Bounds{Clients: 2}, plans: []toyPlan{{acquisitions: 1, looks: 1}, {acquisitions: 1, looks: 1}}, lies: true}
	want, _ := walked(t, m.rules, m, 0)
	x := &exploration{result: &Result{}}
	n := 0
	w := &walk{subject: &erring{Subject: m, errs: func(moves []Move) bool { return slices.Equal(moves, want[0]) }}, went: x.strays, vainly: x.lost,
		told: func(Order, []Move) error { n++; return nil }}
	if err := w.all(t.Context()); err != nil || x.lost() || n != len(want)-1 || w.astray != 1 {
		t.Errorf("%v, given up: %q, %d of %d orders, %d astray", err, x.result.GivenUp, n, len(want), w.astray)
	}
}

// TestPausesFirst: a client may pause before anybody has sent anything, while a lease's time passes.
func TestPausesFirst(t *testing.T) {
	calls, pauses := Move{"c1", Calls, "acquire"}, Move{"c1", Pauses, "acquire"}
	for most, want := range [][]Move{{calls}, {calls, pauses}} {
		o := standingAt(Bounds{Clients: 2, Expiries: most, Faults: most}, calls)
		if got := o.Enabled(); !slices.Equal(got, want) {
			t.Errorf("%d expiries: %q, want %q", most, nameOf(got), nameOf(want))
		}
	}
}

// TestAgainAfterItsOwn: a try that has changed something itself may be worth repeating.
func TestAgainAfterItsOwn(t *testing.T) {
	again := Move{"c2", Calls, tryAgain}
	o := standingAt(Bounds{Clients: 2, Polls: 1})
	stand(o, again, true)
	if got := o.Enabled(); len(got) > 0 {
		t.Errorf("nothing has changed, and %q may come", nameOf(got))
	}
	o.client("c2").changed = true
	if got, want := o.Enabled(), []Move{again}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", nameOf(got), nameOf(want))
	}
}
