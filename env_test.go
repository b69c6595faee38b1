package lockbench

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// TestAfter: what was stopped, or whose context has ended, does not begin, and the probe
// sees the end of every wait and of all work that it was told of.
func TestAfter(t *testing.T) {
	const soon, late = 10 * time.Millisecond, time.Hour
	ended, cancel := context.WithCancel(t.Context())
	for _, try := range []struct {
		name   string
		ctx    context.Context
		d      time.Duration
		act    func(stop func() bool)
		begins bool
	}{
		{"left alone", t.Context(), soon, func(func() bool) {}, true},
		{"stopped", t.Context(), late, func(stop func() bool) {
			if !stop() || stop() {
				t.Error("only the first stop is in time")
			}
		}, false},
		{"ended", ended, late, func(func() bool) { cancel() }, false},
	} {
		p := &balance{}
		e := &Env{Clock: HostClock{}, Probe: p}
		begun := make(chan Actor, 1)
		start := e.Clock.Mono()
		stop := e.After(try.ctx, Renewal, Request{}, "wait", try.d, func(ctx context.Context) {
			if p.waits.Load() != 0 {
				t.Errorf("%s: works while it waits", try.name)
			}
			begun <- e.move(ctx, Request{}, "").Actor
		})
		try.act(stop)
		for deadline := start.Add(10 * time.Second); p.waits.Load() != 0 || p.works.Load() != 0; {
			if e.Clock.Mono() > deadline {
				t.Fatalf("%s: %d waits and %d works have no end", try.name, p.waits.Load(), p.works.Load())
			}
			time.Sleep(time.Millisecond)
		}
		select {
		case as := <-begun:
			if !try.begins || as != Renewal || e.Clock.Mono().Sub(start) < try.d {
				t.Errorf("%s: has begun as %q after %v", try.name, as, e.Clock.Mono().Sub(start))
			}
			if stop() {
				t.Errorf("%s: stopped after it had begun", try.name)
			}
		default:
			if try.begins {
				t.Errorf("%s: has not begun", try.name)
			}
		}
	}
}

// balance is a probe that counts what has not ended.
type balance struct{ waits, works atomic.Int64 }

func (b *balance) Step(ctx context.Context, _ Move) error { return ctx.Err() }
func (b *balance) Wait(context.Context, Move) func() {
	b.waits.Add(1)
	return func() { b.waits.Add(-1) }
}
func (b *balance) Go(Actor) func() {
	b.works.Add(1)
	return func() { b.works.Add(-1) }
}
func (*balance) Renewed(*Lease, Reading) {}
func (*balance) Lost(*Lease, string)     {}

// TestEachWithin: each request has the time from when it leaves, however long the call has taken; of a
// library's call, which asks again by itself, it is the whole.
func TestEachWithin(t *testing.T) {
	const each = 200 * time.Millisecond
	for _, probe := range []Probe{nil, &balance{}} {
		e := &Env{Clock: HostClock{}, Probe: probe}
		ctx := EachWithin(t.Context(), each)
		var left []time.Duration
		request := func(ctx context.Context) error {
			end, _ := ctx.Deadline()
			left = append(left, time.Until(end))
			time.Sleep(each / 2)
			return nil
		}
		_, _ = e.Send(ctx, Request{}, "a", request), e.Send(ctx, Request{}, "b", request)
		if len(left) != 2 || left[1] <= each/2 || left[1] > each {
			t.Errorf("two requests had %v", left)
		}
		whole, cancel := e.Whole(ctx)
		left = nil
		_, _ = e.Send(whole, Request{}, "a", request), e.Send(whole, Request{}, "b", request)
		if len(left) != 2 || left[1] > each/2 {
			t.Errorf("two requests of one call had %v", left)
		}
		cancel()
		if _, has := ctx.Deadline(); has {
			t.Error("the whole call has a deadline")
		}
	}
}
