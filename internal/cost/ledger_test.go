package cost

import (
	"slices"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

const us = lb.Instant(time.Microsecond)

// TestLedger plays out what clients do, and says what each grant is.
func TestLedger(t *testing.T) {
	type step struct {
		do     string // ask, grant, give, quit, begin
		client int
		at     lb.Instant
		want   Origin // of a grant
		since  time.Duration
	}
	for name, c := range map[string]struct {
		steps []step
		want  Tally
	}{
		"a hand-off counts from the call of the release": {
			[]step{{"begin", 0, 1, 0, 0}, {"ask", 0, 1, 0, 0}, {"ask", 1, 2, 0, 0}, {"grant", 0, 3, First, 0}, {"give", 0, 10, 0, 0}, {"grant", 1, 14, HandOff, 4 * 1000}},
			Tally{Grants: 2, HandOffs: 1, Each: []int{1, 1, 0}, Longest: 12 * 1000, Took: 19 * 1000},
		},
		"who takes it again while another waits is barging": {
			[]step{{"begin", 0, 1, 0, 0}, {"ask", 1, 1, 0, 0}, {"ask", 0, 1, 0, 0}, {"grant", 0, 2, First, 0}, {"give", 0, 3, 0, 0}, {"ask", 0, 4, 0, 0}, {"grant", 0, 5, Barging, 0}, {"give", 0, 6, 0, 0}, {"grant", 1, 9, HandOff, 3 * 1000}},
			Tally{Grants: 3, HandOffs: 1, Barging: 1, Each: []int{2, 1, 0}, Longest: 8 * 1000, Took: 19 * 1000},
		},
		"who takes it again and nobody waits is alone": {
			[]step{{"begin", 0, 1, 0, 0}, {"ask", 0, 1, 0, 0}, {"grant", 0, 2, First, 0}, {"give", 0, 3, 0, 0}, {"ask", 0, 4, 0, 0}, {"grant", 0, 5, Alone, 0}},
			Tally{Grants: 2, Each: []int{2, 0, 0}, Longest: 1000, Took: 19 * 1000},
		},
		"who gave up does not wait": {
			[]step{{"begin", 0, 1, 0, 0}, {"ask", 1, 1, 0, 0}, {"ask", 0, 1, 0, 0}, {"grant", 0, 2, First, 0}, {"quit", 1, 3, 0, 0}, {"give", 0, 3, 0, 0}, {"ask", 0, 4, 0, 0}, {"grant", 0, 5, Alone, 0}},
			Tally{Grants: 2, Each: []int{2, 0, 0}, Longest: 2 * 1000, Took: 19 * 1000},
		},
		"two at once are no hand-off": {
			[]step{{"begin", 0, 1, 0, 0}, {"ask", 0, 1, 0, 0}, {"ask", 1, 1, 0, 0}, {"grant", 0, 2, First, 0}, {"grant", 1, 3, Overlap, 0}, {"give", 0, 4, 0, 0}, {"ask", 2, 5, 0, 0}, {"grant", 2, 6, Overlap, 0}},
			Tally{Grants: 3, Overlaps: 2, Each: []int{1, 1, 1}, Longest: 2 * 1000, Took: 19 * 1000},
		},
		"warm-up does not count, but its end is remembered": {
			[]step{{"ask", 0, 1, 0, 0}, {"grant", 0, 2, First, 0}, {"ask", 1, 2, 0, 0}, {"begin", 0, 5, 0, 0}, {"give", 0, 6, 0, 0}, {"grant", 1, 8, HandOff, 2 * 1000}},
			Tally{Grants: 1, HandOffs: 1, Each: []int{0, 1, 0}, Longest: 6 * 1000, Took: 15 * 1000},
		},
		"who waits in vain has waited to the end": {
			[]step{{"begin", 0, 1, 0, 0}, {"ask", 2, 4, 0, 0}},
			Tally{Each: []int{0, 0, 0}, Longest: 16 * 1000, Took: 19 * 1000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLedger(3)
			for i, s := range c.steps {
				switch at := s.at * us; s.do {
				case "begin":
					l.Begin(at)
				case "ask":
					l.Asked(s.client, at)
				case "quit":
					l.GaveUp(s.client, at)
				case "give":
					l.Released(s.client, at)
				case "grant":
					if g := l.Granted(s.client, at); g.Origin != s.want || g.Since != s.since {
						t.Errorf("step %d: origin %d since %v, want %d since %v", i, g.Origin, g.Since, s.want, s.since)
					}
				}
			}
			got := l.End(20 * us)
			if !slices.Equal(got.Each, c.want.Each) {
				t.Errorf("each %v, want %v", got.Each, c.want.Each)
			}
			got.Each, c.want.Each = nil, nil
			if got.Grants != c.want.Grants || got.HandOffs != c.want.HandOffs || got.Barging != c.want.Barging ||
				got.Overlaps != c.want.Overlaps || got.Longest != c.want.Longest || got.Took != c.want.Took {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestWaiting: whether the longest wait was over decides whether it may have been longer.
func TestWaiting(t *testing.T) {
	for _, c := range []struct {
		again   lb.Instant // when client 0 asks again, beside client 1 that was served at 5 µs
		longest time.Duration
		waiting bool
	}{{18 * us, 4 * time.Microsecond, false}, {6 * us, 14 * time.Microsecond, true}} {
		l := NewLedger(2)
		l.Begin(us)
		l.Asked(0, us)
		l.Asked(1, us)
		l.Granted(0, 2*us)
		l.Released(0, 3*us)
		l.Granted(1, 5*us)
		l.Asked(0, c.again)
		if got := l.End(20 * us); got.Longest != c.longest || got.Waiting != c.waiting {
			t.Errorf("asked again at %d: %+v", c.again, got)
		}
	}
}

func TestTally(t *testing.T) {
	a := Tally{Grants: 4, HandOffs: 3, Each: []int{4, 0}, Longest: 5, Took: 2 * time.Second}
	a.Add(Tally{Grants: 6, HandOffs: 1, Barging: 2, Each: []int{1, 5}, Longest: 9, Took: 2 * time.Second})
	if a.PerSecond(a.Grants) != 5 || a.Share(a.Barging) != .2 || a.Longest != 9 || !slices.Equal(a.Each, []int{5, 5}) {
		t.Errorf("%+v", a)
	}
	var none Tally
	if none.PerSecond(1) != 0 || none.Share(0) != 0 {
		t.Error("nothing, measured for no time, is not 0")
	}
}

func TestFairness(t *testing.T) {
	for _, c := range []struct {
		each []int
		want float64
	}{
		{[]int{5, 5, 5, 5}, 1},
		{[]int{8, 0, 0, 0}, .25},
		{[]int{1, 1, 0, 0}, 1}, // two grants can't reach four
		{[]int{2, 0, 0, 0}, .5},
		{[]int{0, 0}, 0},
		{nil, 0},
	} {
		if got := Fairness(c.each); got != c.want {
			t.Errorf("%v: %v, want %v", c.each, got, c.want)
		}
	}
}
