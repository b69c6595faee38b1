package explore

import (
	"context"
	"slices"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// asking is a client that is let go with the request of an acquisition, and has its answer or not.
func asking(t *testing.T, answered bool) (hands, *order, *relay) {
	t.Helper()
	h, o := handsOf(t)
	o.e.ends, o.e.allowed, o.e.Bounds.Expiries = endsLeases, 1, 1
	r := &relay{}
	c := h.of
	c.relays, c.acquiring, c.main = []*relay{r}, true, running
	c.flies(&hold{move: Move{"c1", Sends, "set"}})
	if answered {
		r.heard++
	}
	return h, o, r
}

// atOnceBy reports whether a look at the clock is over at once; else it is let go.
func atOnceBy(t *testing.T, h hands, o *order) bool {
	t.Helper()
	done := make(chan struct{})
	go func() { h.Mono(); close(done) }()
	for range 500 {
		select {
		case <-done:
			return true
		case <-time.After(time.Millisecond):
		}
		o.mu.Lock()
		if len(h.of.holds) == 1 && h.of.holds[0].move == (Move{"c1", Hears, "set"}) {
			h.of.letGo(0, nil)
			o.mu.Unlock()
			<-done
			return false
		}
		o.mu.Unlock()
	}
	t.Fatal("who looks at the clock neither stands nor goes on")
	return false
}

// TestLook: who looks at the clock when the answer has come hears it there, and once.
func TestLook(t *testing.T) {
	h, o, _ := asking(t, true)
	if atOnceBy(t, h, o) {
		t.Error("the answer was heard at once")
	}
	if !atOnceBy(t, h, o) {
		t.Error("it was heard twice")
	}
	if !h.of.lands(lb.Main) || h.of.lands(lb.Main) {
		t.Error("it isn't known to be heard, or for too long")
	}
}

// TestLookAtOnce: all other looks at a clock are over at once.
func TestLookAtOnce(t *testing.T) {
	for name, change := range map[string]func(*client, *order){
		"no answer":                  func(c *client, _ *order) { c.relays[0].heard-- },
		"a renewal beside it":        func(c *client, _ *order) { c.behind = 1 },
		"dead":                       func(c *client, _ *order) { c.dead = true },
		"nobody is held":             func(_ *client, o *order) { o.free = true },
		"the step was passed before": func(c *client, _ *order) { c.lands(lb.Main) },
		"the library has a clock of its own": func(c *client, o *order) {
			o.e.info.OwnClock = true
			c.flies(&hold{move: Move{"c1", Sends, "set"}})
			c.relays[0].heard++
		},
		"no lease can end": func(c *client, o *order) {
			o.e.allowed = 0
			c.flies(&hold{move: Move{"c1", Sends, "set"}})
			c.relays[0].heard++
		},
	} {
		h, o, _ := asking(t, true)
		change(h.of, o)
		if !atOnceBy(t, h, o) {
			t.Errorf("%s: who looks at the clock stands", name)
		}
	}
}

// TestRenewals: a renewal's time comes when all is quiet, within the bound, and one that was called off
// before it sent anything does not count.
func TestRenewals(t *testing.T) {
	h, o := handsOf(t)
	c := h.of
	o.e.Bounds.Renewals = 1
	ctx := lb.As(t.Context(), lb.Renewal)
	begin := func() (slept chan error, left func()) {
		c.beside()
		left = c.wait(context.Background(), lb.Move{Name: "renewal", Actor: lb.Renewal})
		slept = make(chan error, 1)
		go func() { slept <- h.Sleep(ctx, time.Hour) }()
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
			o.mu.Lock()
			waits := c.waits[len(c.waits)-1].ends != nil
			o.mu.Unlock()
			if waits {
				return slept, left
			}
			if time.Now().After(deadline) {
				t.Fatal("the scheduler does not know of it")
			}
		}
	}
	slept, left := begin()
	if c.behind != 0 {
		t.Errorf("%d at work while it waits", c.behind)
	}
	due := Move{"c1", Calls, renew}
	if got := o.Enabled(); !slices.Equal(got, []Move{due}) {
		t.Fatalf("its time can't come: %v", got)
	}
	if err := o.let(due); err != nil || c.behind != 1 || c.renewed != 1 || len(o.Enabled()) != 0 {
		t.Errorf("its time does not come, or twice: %v, %d at work, %d renewals", err, c.behind, c.renewed)
	}
	if err := <-slept; err != nil {
		t.Error(err)
	}
	left()
	c.holds = append(c.holds, &hold{move: Move{"c1", Sends, renewals + "renew"}, actor: lb.Renewal, open: make(chan error, 1), ctx: context.Background()})
	c.behind--
	if err := o.let(Move{"c1", Sends, renewals + "renew"}); err != nil || c.renewed != 1 {
		t.Errorf("%v, %d renewals", err, c.renewed)
	}
	slept, _ = begin()
	if got := o.Enabled(); len(got) != 0 {
		t.Errorf("there are more than the bound: %v", got)
	}
	close(o.over)
	<-slept
}

// TestLeaves: nobody is sure to stand whose context has ended, even one that was made of it.
func TestLeaves(t *testing.T) {
	h, o := handsOf(t)
	above, end := context.WithCancel(t.Context())
	ctx, cancel := h.WithTimeout(above, time.Hour)
	defer cancel()
	h.of.main = running
	h.of.holds = []*hold{{move: Move{"c1", Sends, "set"}, ctx: lb.As(ctx, lb.Renewal)}}
	if _, _, sure := o.state(); !sure {
		t.Error("who stands is not sure to")
	}
	end()
	if _, _, sure := o.state(); sure {
		t.Error("who gives up is sure to stand")
	}
}
