package explore

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// handsOf is the clock of a client of an order with nobody else.
func handsOf(t *testing.T) (hands, *order) {
	t.Helper()
	o := &order{e: &engine{}, changed: make(chan struct{}, 1), over: make(chan struct{}), asked: map[string]int{}, done: map[string]int{}}
	c := &client{name: "c1", order: o, flying: map[lb.Actor]*flight{}}
	o.clients = []*client{c}
	return hands{c}, o
}

// wants waits for the context's end.
func wants(t *testing.T, ctx context.Context, want error) {
	t.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("it does not end")
	}
	if !errors.Is(ctx.Err(), want) {
		t.Errorf("%v, want %v", ctx.Err(), want)
	}
}

func notYet(t *testing.T, ctx context.Context) {
	t.Helper()
	select {
	case <-ctx.Done():
		t.Errorf("it has ended: %v", ctx.Err())
	case <-time.After(10 * time.Millisecond):
	}
	if ctx.Err() != nil {
		t.Error(ctx.Err())
	}
}

// TestSleep: nobody waits by the clock, unless he is dead.
func TestSleep(t *testing.T) {
	h, o := handsOf(t)
	began := time.Now()
	if err := h.Sleep(t.Context(), time.Hour); err != nil || time.Since(began) > time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Sleep(gone, time.Hour); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	h.of.dead = true
	slept := make(chan error, 1)
	sleepUntil(t, h, slept, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		h.of.wake()
	}, nil)
	sleepUntil(t, h, slept, func() { close(o.over) }, errOver)
}

// sleepUntil has somebody sleep until he is woken up.
func sleepUntil(t *testing.T, h hands, slept chan error, up func(), want error) {
	t.Helper()
	go func() { slept <- h.Sleep(t.Context(), time.Millisecond) }()
	select {
	case err := <-slept:
		t.Fatalf("the dead do not sleep: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	up()
	select {
	case err := <-slept:
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("nobody wakes up")
	}
}

// TestLeap: what has leapt has passed on both hands.
func TestLeap(t *testing.T) {
	h, o := handsOf(t)
	wall, mono := h.Now(), h.Mono()
	o.e.time.leapt.Add(int64(time.Hour))
	for name, d := range map[string]time.Duration{"wall": h.Now().Sub(wall), "mono": h.Mono().Sub(mono)} {
		if d < time.Hour || d > time.Hour+time.Minute {
			t.Errorf("%s: %v have passed", name, d)
		}
	}
}

// TestTimeout: it ends when it is told to, not by time.
func TestTimeout(t *testing.T) {
	h, _ := handsOf(t)
	type key struct{}
	above, end := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	defer end()

	ctx, cancel := h.WithTimeout(above, time.Nanosecond)
	if _, has := ctx.Deadline(); has || ctx.Value(key{}) != "value" {
		t.Error("it has a deadline, or no values")
	}
	notYet(t, ctx)
	child, stop := context.WithCancel(ctx)
	defer stop()
	ctx.(*timeout).over()
	wants(t, ctx, context.DeadlineExceeded)
	wants(t, child, context.DeadlineExceeded)
	cancel()
	wants(t, ctx, context.DeadlineExceeded) // as before

	ctx, cancel = h.WithTimeout(above, time.Nanosecond)
	child, stop = context.WithTimeout(ctx, time.Hour)
	defer stop()
	cancel()
	cancel()
	wants(t, ctx, context.Canceled)
	wants(t, child, context.Canceled)
	if above.Err() != nil {
		t.Error("it ends what it was made of")
	}

	ctx, cancel = h.WithTimeout(above, time.Nanosecond)
	defer cancel()
	end()
	wants(t, ctx, context.Canceled)
}

// TestTimeoutOfAWait: who waits for a server is told that his time is over by the scheduler.
func TestTimeoutOfAWait(t *testing.T) {
	h, o := handsOf(t)
	left := h.of.wait(context.Background(), lb.Move{Name: "queue"})
	ctx, cancel := h.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if w := h.of.waits; len(w) != 1 || w[0].ends == nil {
		t.Fatal("the scheduler does not know of it")
	}
	if err := o.let(Move{"c1", Wakes, "queue"}); err != nil {
		t.Fatal(err)
	}
	wants(t, ctx, context.DeadlineExceeded)
	if h.of.polls != 1 {
		t.Errorf("%d polls", h.of.polls)
	}
	left()
	if len(h.of.waits) != 0 {
		t.Error("it still waits")
	}
}

// TestWaitUnderATimeout: so is who begins to wait when his time runs already, unless he only pauses.
func TestWaitUnderATimeout(t *testing.T) {
	h, o := handsOf(t)
	ctx, cancel := h.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	inside, stop := context.WithCancel(ctx)
	defer stop()
	h.of.wait(inside, lb.Move{Name: lb.RetryDelay})()
	if err := o.let(Move{"c1", Wakes, lb.RetryDelay}); !errors.Is(err, errAstray) {
		t.Errorf("a pause is over by time: %v", err)
	}
	defer h.of.wait(inside, lb.Move{Name: "queue"})()
	if err := o.let(Move{"c1", Wakes, "queue"}); err != nil {
		t.Fatal(err)
	}
	wants(t, ctx, context.DeadlineExceeded)
	<-inside.Done()
}

// TestTimeoutLeaks: nothing is left of a timeout that was cancelled, or of its children.
func TestTimeoutLeaks(t *testing.T) {
	h, _ := handsOf(t)
	above, end := context.WithCancel(t.Context())
	defer end()
	before := runtime.NumGoroutine()
	for range 100 {
		ctx, cancel := h.WithTimeout(above, time.Hour)
		child, stop := context.WithCancel(ctx)
		defer stop()
		_ = context.AfterFunc(child, func() {})
		cancel()
	}
	for began := time.Now(); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			t.Fatalf("%d goroutines, then %d", before, runtime.NumGoroutine())
		}
	}
}
