package workloads

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

// TestLong: the seed says which process works for long when; each does, and after each turn all work as
// usual for as long.
func TestLong(t *testing.T) {
	const work, processes = 4 * time.Second, 3
	first := map[int]bool{}
	for seed := range uint64(50) {
		var turns []time.Duration
		for n := range processes {
			a, b := NewLong(work, seed, n, processes), NewLong(work, seed, n, processes)
			for turn := range 4 {
				if a.begins(turn) != b.begins(turn) {
					t.Fatalf("seed %d says twice what it means", seed)
				}
				turns = append(turns, a.begins(turn))
			}
			if a.place == 0 {
				first[n] = true
			}
		}
		slices.Sort(turns)
		if turns[0] < firstLong || turns[0] > firstLong+work/4 {
			t.Errorf("seed %d: the first turn begins after %v", seed, turns[0])
		}
		for i := range turns[1:] {
			if pause := turns[i+1] - turns[i] - work; pause < work*3/4 {
				t.Errorf("seed %d: %v between two turns", seed, pause)
			}
		}
	}
	if len(first) != processes {
		t.Errorf("only %v begin", first)
	}
}

// TestLongOnce: one hold of a turn works for long, those before and after it as usual.
func TestLongOnce(t *testing.T) {
	if (*Long)(nil).next() != 0 {
		t.Error("long work where there is none")
	}
	l := NewLong(time.Minute, 1, 0, 1)
	if l.next() != 0 {
		t.Error("long work before its turn")
	}
	for _, after := range []time.Duration{l.begins(0), l.begins(3)} { // some turns later, too
		l.began = clock.Now().Add(-after)
		if a, b := l.next(), l.next(); a != time.Minute || b != 0 {
			t.Errorf("after %v: %v and %v", after, a, b)
		}
	}
}

// working counts how often a holder comes to a step, and does something there.
type working struct {
	lb.Probe
	came int
	at   func(came int)
}

func (w *working) Step(context.Context, lb.Move) error {
	w.came++
	w.at(w.came)
	return nil
}

// TestLongWork comes to the step again and again; it ends by itself, with the run, and when the holder was
// stopped there.
func TestLongWork(t *testing.T) {
	over := make(chan struct{})
	for _, c := range []struct {
		name        string
		long        time.Duration
		at          func(came int)
		least, most int
	}{
		{"a moment", 0, func(int) {}, 1, 1},
		{"by itself", 100 * time.Millisecond, func(int) {}, 2, 20},
		{"stopped", time.Hour, func(came int) {
			if came == 3 {
				time.Sleep(60 * time.Millisecond)
			}
		}, 1, 3},
		{"the end of the run", time.Hour, func(came int) {
			if came == 4 {
				close(over)
			}
		}, 1, 4},
	} {
		p := &working{at: c.at}
		k := kit{env: &lb.Env{Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(1, 1)), Probe: p}}
		if err := k.work(t.Context(), lb.Request{}, section{long: c.long, over: over}); err != nil || p.came < c.least || p.came > c.most {
			t.Errorf("%s: came %d times, %v", c.name, p.came, err)
		}
	}
}
