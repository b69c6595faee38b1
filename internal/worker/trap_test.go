package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
)

// desk is where reports arrive in a test.
type desk chan Report

func newTraps() (*traps, desk) {
	d := make(desk, 100)
	return &traps{worker: "w1", record: func(history.Event) {}, last: func(history.Event) {}, report: func(r Report) { d <- r }}, d
}

func (d desk) next(t *testing.T) Report {
	t.Helper()
	select {
	case r := <-d:
		return r
	case <-time.After(2 * time.Second):
		t.Fatal("nothing was reported")
		return Report{}
	}
}

func (d desk) silent(t *testing.T) {
	t.Helper()
	select {
	case r := <-d:
		t.Fatalf("reported %+v", r)
	case <-time.After(50 * time.Millisecond):
	}
}

// TestReportsAnswerTheirOrders: two traps at one step, each answered by its number, and
// taking back one leaves the other.
func TestReportsAnswerTheirOrders(t *testing.T) {
	traps, desk := newTraps()
	traps.arm(Instruction{N: 1, Step: "s", How: Notice})
	traps.arm(Instruction{N: 2, Step: "s", How: Notice})
	traps.free(1)
	if err := traps.pass(t.Context(), "c", lb.Move{Name: "s", Owner: "c.1"}); err != nil {
		t.Fatal(err)
	}
	if r := desk.next(t); r.N != 2 || r.Client != "c" || r.ID != "c.1" || r.At == 0 {
		t.Errorf("reported %+v, want the answer to instruction 2", r)
	}
	_ = traps.pass(t.Context(), "d", lb.Move{Name: "s"})
	desk.silent(t) // a trap springs once
}

// TestOneStops: of two traps that would stop a client, one does, and the other waits
// for the next to come by.
func TestOneStops(t *testing.T) {
	traps, desk := newTraps()
	traps.arm(Instruction{N: 1, Step: "s", How: faults.Delay})
	traps.arm(Instruction{N: 2, Step: "s", How: faults.Delay})
	for _, c := range []string{"c", "d"} {
		go func() { _ = traps.pass(context.Background(), c, lb.Move{Name: "s"}) }()
		if r := desk.next(t); r.Client != c || r.Say != SayCaught {
			t.Fatalf("reported %+v of %s", r, c)
		}
	}
	traps.free(2)
	if r := desk.next(t); r.N != 2 || r.Say != SayOn || r.Idle <= 0 {
		t.Errorf("reported %+v", r)
	}
	desk.silent(t)
	traps.freeAll()
	if r := desk.next(t); r.N != 1 || r.Say != SayOn {
		t.Errorf("reported %+v", r)
	}
}

// TestGate holds everybody but one until it is taken back.
func TestGate(t *testing.T) {
	traps, desk := newTraps()
	traps.arm(Instruction{N: 7, Step: "s", How: faults.Delay, AllBut: "a"})
	if err := traps.pass(t.Context(), "a", lb.Move{Name: "s"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"b", "c"} {
		go func() { _ = traps.pass(context.Background(), c, lb.Move{Name: "s"}) }()
		if r := desk.next(t); r.Client != c {
			t.Fatalf("reported %+v of %s", r, c)
		}
	}
	traps.free(7)
	for range 2 {
		if r := desk.next(t); r.Say != SayOn || r.N != 7 {
			t.Errorf("reported %+v", r)
		}
	}
}

// TestLetGoBeforeItSprang: a trap that was taken back in time catches nobody.
func TestLetGoBeforeItSprang(t *testing.T) {
	traps, desk := newTraps()
	traps.arm(Instruction{N: 1, Step: "s", How: faults.Freeze})
	traps.free(1)
	_ = traps.pass(t.Context(), "c", lb.Move{Name: "s"})
	desk.silent(t)
}

// TestAllStandThere: a trap for all is sprung by the last, and holds those who came
// before.
func TestAllStandThere(t *testing.T) {
	traps, desk := newTraps()
	traps.arm(Instruction{N: 1, Step: "s", How: faults.Delay, All: 2})
	on := make(chan string, 3)
	pass := func(client string) {
		_ = traps.pass(t.Context(), client, lb.Move{Name: "s", Owner: client + ".1"})
		on <- client
	}
	go pass("first")
	go pass("first")
	desk.silent(t)
	go pass("second")
	if r := desk.next(t); r.Say != SayCaught || r.Client == "" {
		t.Errorf("reported %+v, want who came last", r)
	}
	if err := traps.pass(t.Context(), "third", lb.Move{Name: "s"}); err != nil {
		t.Error(err)
	}
	select {
	case c := <-on:
		t.Errorf("%s went on", c)
	default:
	}
	traps.free(1)
	<-on
	<-on
	<-on
	if r := desk.next(t); r.Say != SayOn {
		t.Errorf("reported %+v, want that it goes on", r)
	}
	desk.silent(t)
}

// TestTogether: of the requests that a client sends at once, to several servers, none leaves while it is held
// before its call's first, or before those.
func TestTogether(t *testing.T) {
	for _, step := range []string{lb.StepAcquiring, lb.Before("set")} {
		t.Run(step, func(t *testing.T) { together(t, step) })
	}
}

func together(t *testing.T, step string) {
	traps, desk := newTraps()
	traps.arm(Instruction{N: 1, Step: step, How: faults.Delay})
	p := &probe{client: "c", traps: traps, asks: map[string]bool{lb.Before("set"): true}}
	p.begin("c.1", lb.StepAcquiring)
	var left atomic.Int64
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := p.Step(t.Context(), lb.Move{Name: lb.Before("set"), Owner: "c.1"}); err != nil {
				t.Error(err)
			}
			left.Add(1)
		})
	}
	if r := desk.next(t); r.N != 1 {
		t.Errorf("reported %+v", r)
	}
	desk.silent(t) // it is caught once
	if n := left.Load(); n != 0 {
		t.Errorf("%d requests left while the client was held before its first", n)
	}
	traps.free(1)
	all.Wait()
}
