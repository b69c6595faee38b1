package explore

import (
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// TestVolley: whichever of the requests that are sent together is let go first begins the try, and between
// it and the others no time passes: that would be taken for a slow answer.
func TestVolley(t *testing.T) {
	h, o := handsOf(t)
	c := h.of
	o.lock, o.e.Bounds.Polls, c.first = "lock", 1, true
	c.steps, c.relays = map[string]step{lb.Before("set"): {Sends, "set"}}, []*relay{{}, {}}
	for server := range 2 {
		go func() { _ = c.step(t.Context(), lb.Move{Name: lb.Before("set"), Lock: "lock", Server: server + 1}) }()
	}
	stand := func(want int) {
		t.Helper()
		for began := time.Now(); ; time.Sleep(time.Millisecond) {
			o.mu.Lock()
			n := len(c.holds)
			o.mu.Unlock()
			if n == want {
				return
			}
			if time.Since(began) > 5*time.Second {
				t.Fatalf("%d stand, want %d", n, want)
			}
		}
	}
	stand(2)
	o.done["c2"]++
	if got := o.Enabled(); len(got) != 2 {
		t.Fatalf("before one is let go: %v", got)
	}
	defer func() {
		if c.tried != 1 {
			t.Errorf("it knows of %d changes: the first that is let go begins the try, whichever that is", c.tried)
		}
	}()
	c.acquiring = true
	if !c.amidst() {
		t.Error("it has looked at its clock, and sent nothing")
	}
	if err := o.let(Move{"c1", Sends, "set to server 2"}); err != nil {
		t.Fatal(err)
	}
	stand(1)
	if !c.amidst() {
		t.Error("it has not begun, and has sent one of two")
	}
	if got := o.Enabled(); len(got) != 1 || got[0].What != "set to server 1" {
		t.Errorf("when one was let go: %v", got)
	}
	o.done["c2"]++ // since the try began
	if err := o.let(Move{"c1", Sends, "set to server 1"}); err != nil {
		t.Fatal(err)
	}
}

// TestAmidst: who has asked one of two for the lock is in the midst of a try; who cleans up after it is
// not, nor who asks the first again.
func TestAmidst(t *testing.T) {
	h, _ := handsOf(t)
	c := h.of
	c.acquiring, c.began = true, Move{"c1", Sends, "set to server 2"}
	for next, want := range map[string]bool{"set to server 1": true, "set to server 2": false, "del to server 1": false} {
		c.holds = []*hold{{move: Move{"c1", Sends, next}}}
		if got := c.amidst(); got != want {
			t.Errorf("before %s: %t", next, got)
		}
	}
	c.acquiring, c.holds = false, []*hold{{move: Move{"c1", Sends, "set to server 1"}}}
	if c.amidst() {
		t.Error("who asks for nothing is in the midst of it")
	}
}
