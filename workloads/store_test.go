package workloads

import (
	"context"
	"net"
	"testing"

	"github.com/lockbench/lockbench/history"
)

// TestCopies walks two holders through the store, the second of which overtakes
// the first: plain takes everything, checked what its writer vouches for, fenced
// what has not been overtaken.
func TestCopies(t *testing.T) {
	var got []history.Event
	s := NewStore(func(ev history.Event) { got = append(got, ev) })
	old, fresh := access{Lock: "L", ID: "old", Token: 1}, access{Lock: "L", ID: "fresh", Token: 2}
	base := s.serve(old)
	base2 := s.serve(fresh) // from here on, token 1 is stale

	fresh.Write, fresh.Base, fresh.Held = true, base2, true
	s.serve(fresh)
	old.Write, old.Base, old.Held = true, base, false // late, and it knows
	s.serve(old)
	after := s.serve(access{Lock: "L", ID: "last", Token: 3})

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

func TestAReadCountsForFencing(t *testing.T) {
	s := NewStore(func(history.Event) {})
	base := s.serve(access{Lock: "L", Token: 7})
	s.serve(access{Lock: "L", Token: 8}) // the next holder has read, and not written yet
	s.serve(access{Write: true, Lock: "L", Token: 7, Base: base, Held: true})
	if got := s.serve(access{Lock: "L", Token: 8}); got.Fenced != 0 || got.Plain != 1 {
		t.Errorf("the copies hold %+v; fenced must have refused what the reader had overtaken", got)
	}
}

func TestWithoutTokensThereIsNoFencedCopy(t *testing.T) {
	var got history.Event
	s := NewStore(func(ev history.Event) { got = ev })
	s.serve(access{Write: true, Lock: "L", Held: true})
	if got.Copies.Fenced != nil {
		t.Errorf("fenced: %+v", got.Copies.Fenced)
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
		v, err := c.do(access{Lock: "L"})
		if err != nil || v.Plain != want {
			t.Fatalf("read %+v, %v; want %d", v, err, want)
		}
		if _, err := c.do(access{Write: true, Lock: "L", Base: v, Held: true}); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
