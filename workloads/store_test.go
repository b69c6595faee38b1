package workloads

import (
	"context"
	"math/rand/v2"
	"net"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// to is an access to one lock; b is what was read before.
func to(kind accessKind, p part, b values, held bool) access {
	p.Base, p.Held = b, held
	p.New = values{b.Plain + 1, b.Checked + 1, b.Fenced + 1}
	return access{Kind: kind, Parts: []part{p}}
}

// TestCopies walks two holders through the store, the second of which overtakes
// the first: plain takes everything, checked what its writer vouches for, fenced
// what has not been overtaken.
func TestCopies(t *testing.T) {
	var got []history.Event
	s := NewStore(func(ev history.Event) { got = append(got, ev) })
	old, fresh := part{Lock: "L", ID: "old", Token: 1}, part{Lock: "L", ID: "fresh", Token: 2}
	base := s.serve(to(reads, old, values{}, false))[0]
	base2 := s.serve(to(reads, fresh, values{}, false))[0] // from here on, token 1 is stale
	s.serve(to(writes, fresh, base2, true))
	s.serve(to(writes, old, base, false)) // late, and it knows
	after := s.serve(to(reads, part{Lock: "L", Token: 3}, values{}, false))[0]

	if after != (values{1, 1, 1}) {
		t.Errorf("the copies hold %+v", after)
	}
	late := got[3].Copies
	if late.Plain != (history.CopyEffect{Value: 1, Base: 0, New: 1, Result: history.Landed}) {
		t.Errorf("plain: %+v: the late write must land on a newer value", late.Plain)
	}
	if late.Checked.Result != history.Skipped || late.Fenced.Result != history.Refused {
		t.Errorf("checked %q, fenced %q: want skipped and refused", late.Checked.Result, late.Fenced.Result)
	}
	for i, ev := range got {
		if ev.Seq != uint64(i+1) {
			t.Errorf("access %d has the number %d", i+1, ev.Seq)
		}
	}
}

// TestSame: a version column takes no write on top of another, and whoever is refused may come again.
func TestSame(t *testing.T) {
	var last history.Event
	s := NewStore(func(ev history.Event) { last = ev })
	update := func(base values) history.Decision {
		a := to(writes, part{Lock: "L"}, base, true)
		a.Same = true
		s.serve(a)
		return last.Copies.Plain.Result
	}
	base := s.serve(to(reads, part{Lock: "L"}, values{}, false))[0]
	if first, late := update(base), update(base); first != history.Landed || late != history.Refused {
		t.Errorf("%s and %s, want landed and refused", first, late)
	}
	if got := update(s.serve(to(reads, part{Lock: "L"}, values{}, false))[0]); got != history.Landed {
		t.Errorf("read again: %s", got)
	}
	if got := s.serve(to(reads, part{Lock: "L"}, values{}, false))[0]; got.Plain != 2 || got.Checked != 2 {
		t.Errorf("the copies hold %+v", got)
	}
}

func TestAReadCountsForFencing(t *testing.T) {
	s := NewStore(func(history.Event) {})
	base := s.serve(to(reads, part{Lock: "L", Token: 7}, values{}, false))[0]
	s.serve(to(reads, part{Lock: "L", Token: 8}, values{}, false)) // the next holder has read, and not written yet
	s.serve(to(writes, part{Lock: "L", Token: 7}, base, true))
	if got := s.serve(to(reads, part{Lock: "L", Token: 8}, values{}, false))[0]; got.Fenced != 0 || got.Plain != 1 {
		t.Errorf("the copies hold %+v; fenced must have refused what the reader had overtaken", got)
	}
}

func TestWithoutTokensThereIsNoFencedCopy(t *testing.T) {
	var got history.Event
	s := NewStore(func(ev history.Event) { got = ev })
	s.serve(to(writes, part{Lock: "L"}, values{}, true))
	if got.Copies.Fenced != nil {
		t.Errorf("fenced: %+v", got.Copies.Fenced)
	}
}

// TestReaders: those who share come in any order among themselves, but no write comes
// behind one, and none of them behind a later writer. Who shares without a token can't be
// refused.
func TestReaders(t *testing.T) {
	var got history.Event
	s := NewStore(func(ev history.Event) { got = ev })
	fenced := func(kind accessKind, p part) history.Decision {
		p.Lock = "L"
		s.serve(to(kind, p, values{}, true))
		return got.Copies.Fenced.Result
	}
	for i, tt := range []struct {
		kind accessKind
		part
		want history.Decision
	}{
		{reads, part{Token: 5, Shared: true}, history.NoDecision},
		{confirms, part{Token: 4, Shared: true}, history.Landed},
		{writes, part{Token: 3}, history.Refused},
		{writes, part{Token: 6}, history.Landed},
		{confirms, part{Token: 5, Shared: true}, history.Refused},
		{confirms, part{Shared: true}, history.Landed},
	} {
		if d := fenced(tt.kind, tt.part); d != tt.want {
			t.Errorf("access %d is %q, want %q", i, d, tt.want)
		}
	}
	if c := got.Copies.Fenced; c.Value != 1 || c.Base != 0 || c.New != 0 || got.Kind != history.KindRead {
		t.Errorf("the last reader has seen %+v", got)
	}
	held := to(confirms, part{Lock: "L", Shared: true}, values{1, 1, 1}, false)
	if s.serve(held); got.Copies.Checked.Result != history.Skipped || got.Copies.Plain.Result != history.Landed {
		t.Errorf("a reader that knows better relies on nothing: %+v", got.Copies)
	}
}

// TestOnce: a copy takes a key once, also one that it would be written back to.
func TestOnce(t *testing.T) {
	var got history.Event
	s := NewStore(func(ev history.Event) { got = ev })
	a := to(writes, part{Lock: "L"}, values{}, false)
	a.Once = true
	s.serve(a)
	if got.Copies.Plain.Result != history.Landed || got.Copies.Checked.Result != history.Skipped {
		t.Errorf("the first: %+v", got.Copies)
	}
	a.Parts[0].Held = true
	s.serve(a)
	if got.Copies.Plain.Result != history.Refused || got.Copies.Checked.Result != history.Landed {
		t.Errorf("the second: %+v", got.Copies)
	}
	a.Once = false
	if s.serve(a); got.Copies.Plain.Result != history.Landed {
		t.Errorf("without a key: %+v", got.Copies)
	}
}

// TestParts are taken by a copy all or none.
func TestParts(t *testing.T) {
	var got []history.Event
	s := NewStore(func(ev history.Event) { got = append(got, ev) })
	s.serve(access{Kind: reads, Parts: []part{{Lock: "b", Token: 9, First: 100}}})
	both := access{Kind: writes, Parts: []part{
		{Lock: "a", Token: 5, First: 100, Held: true, Base: values{100, 100, 100}, New: values{90, 90, 90}},
		{Lock: "b", Token: 8, First: 100, Held: false, Base: values{100, 100, 100}, New: values{110, 110, 110}},
	}}
	before := s.serve(both)
	if len(before) != 2 || before[0] != (values{100, 100, 100}) {
		t.Errorf("the copies held %+v", before)
	}
	for _, ev := range got[1:] {
		if c := ev.Copies; c.Plain.Result != history.Landed || c.Checked.Result != history.Skipped || c.Fenced.Result != history.Refused {
			t.Errorf("%s: %+v, fenced %+v", ev.Lock, c, c.Fenced)
		}
	}
}

func TestClientsReachTheStore(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- NewStore(func(history.Event) {}).Serve(ctx, l) }()
	c, err := dialStore(ctx, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for want := range int64(3) {
		v, err := c.ask(to(reads, part{Lock: "L"}, values{}, false))
		if err != nil || len(v) != 1 || v[0].Plain != want {
			t.Fatalf("read %+v, %v; want %d", v, err, want)
		}
		if _, err := c.ask(to(writes, part{Lock: "L"}, v[0], true)); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestNoStore: who can't reach it has no task, and nothing to close.
func TestNoStore(t *testing.T) {
	const nobody = "127.0.0.1:1" // a port that was free a moment ago may be another test's by now
	for _, w := range All() {
		if task, err := w.Open(t.Context(), Bench{Env: &lb.Env{Rand: rand.New(rand.NewPCG(1, 1))}, Store: nobody}); err == nil || task != nil {
			t.Errorf("%s: %v, %v", w.Info().Name, task, err)
		}
	}
}
