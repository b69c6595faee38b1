package shrink

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// many are so many faults, a to z, aa and so on.
func many(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("f%d", i))
	}
	return all
}

// TestSmallest: the search finds what a made-up lock breaks by, and tries little for it.
func TestSmallest(t *testing.T) {
	// in are the faults in this order, perhaps with others between them.
	in := func(c Case, some ...string) bool {
		for _, f := range c.Faults {
			if len(some) > 0 && f == some[0] {
				some = some[1:]
			}
		}
		return len(some) == 0
	}
	big := Case{Faults: many(40), AtOnce: 3, Clients: 6, Processes: 3, Duration: 20 * time.Second}
	for _, tt := range []struct {
		name  string
		shows func(Case) bool
		guess []string
		want  Case
		tries int
	}{
		{"any run", func(Case) bool { return true }, nil, Case{nil, 1, 2, 1, time.Second}, 5},
		{"one fault", func(c Case) bool { return in(c, "f17") }, nil, Case{[]string{"f17"}, 1, 2, 1, time.Second}, 40},
		{"one fault that was guessed", func(c Case) bool { return in(c, "f39") }, []string{"f39"}, Case{[]string{"f39"}, 1, 2, 1, time.Second}, 6},
		{"a guess of which not all is needed", func(c Case) bool { return in(c, "f38") }, []string{"f37", "f38", "f39"}, Case{[]string{"f38"}, 1, 2, 1, time.Second}, 10},
		{"two in their order", func(c Case) bool { return in(c, "f3", "f30") }, nil, Case{[]string{"f3", "f30"}, 1, 2, 1, time.Second}, 80},
		{"two at once", func(c Case) bool { return in(c, "f3", "f4") && c.AtOnce > 1 }, nil, Case{[]string{"f3", "f4"}, 2, 2, 1, time.Second}, 80},
		{"two processes, five clients", func(c Case) bool { return in(c, "f0") && c.Processes > 1 && c.Clients > 4 }, nil, Case{[]string{"f0"}, 1, 6, 2, time.Second}, 60},
		{"four clients for seven seconds", func(c Case) bool { return in(c, "f0") && c.Clients > 2 && c.Duration >= 7*time.Second }, nil, Case{[]string{"f0"}, 1, 4, 1, 8 * time.Second}, 60},
	} {
		tries := map[string]bool{}
		got, shown, err := Smallest(big, tt.guess, func(c Case) (bool, error) {
			if key := fmt.Sprint(c); tries[key] {
				t.Errorf("%s: %v is tried twice", tt.name, c)
			} else {
				tries[key] = true
			}
			if c.AtOnce < 1 || c.Processes < 1 || c.Processes > c.Clients || c.Clients < 2 {
				t.Errorf("%s: %+v can't be run", tt.name, c)
			}
			return tt.shows(c), nil
		})
		if err != nil || !shown || fmt.Sprint(got) != fmt.Sprint(tt.want) || len(tries) > tt.tries {
			t.Errorf("%s: %+v after %d tries, %v; want %+v within %d", tt.name, got, len(tries), err, tt.want, tt.tries)
		}
	}
}

// TestMinimal: of whatever faults it takes, none can be left out.
func TestMinimal(t *testing.T) {
	for _, needed := range [][]int{{0, 19}, {1, 2, 3}, {0, 5, 10, 15}, {7}, {18, 19}} {
		shows := func(c Case) (bool, error) {
			for _, n := range needed {
				if !slices.Contains(c.Faults, fmt.Sprintf("f%d", n)) {
					return false, nil
				}
			}
			return true, nil
		}
		got, _, err := Smallest(Case{Faults: many(20), Clients: 2, Processes: 1}, nil, shows)
		if err != nil || len(got.Faults) != len(needed) {
			t.Errorf("it takes %v, found %v, %v", needed, got.Faults, err)
		}
	}
}

// TestGone: what does not show again is said to, and nothing smaller is tried.
func TestGone(t *testing.T) {
	tries := 0
	_, shown, err := Smallest(Case{Faults: many(9), Clients: 6, Processes: 3}, many(2), func(Case) (bool, error) { tries++; return false, nil })
	if shown || err != nil || tries != 3 {
		t.Errorf("shown %v after %d tries, %v", shown, tries, err)
	}
}

// TestOutOfTime: the smallest until then is what there is.
func TestOutOfTime(t *testing.T) {
	late, tries := errors.New("the time is over"), 0
	got, shown, err := Smallest(Case{Faults: many(8), Clients: 6, Processes: 3}, nil, func(c Case) (bool, error) {
		if tries++; tries > 4 {
			return false, late
		}
		return strings.Contains(fmt.Sprint(c.Faults), "f1"), nil
	})
	if !shown || !errors.Is(err, late) || tries != 5 || len(got.Faults) != 2 {
		t.Errorf("%+v, shown %v after %d tries, %v", got, shown, tries, err)
	}
}

// TestMix: one fault with several at once draws others, and is left as it is.
func TestMix(t *testing.T) {
	got, shown, err := Smallest(Case{Faults: []string{"random"}, AtOnce: 3, Clients: 4, Processes: 2, Duration: 4 * time.Second}, nil,
		func(c Case) (bool, error) { return len(c.Faults) == 1 && c.AtOnce > 1, nil })
	if want := (Case{[]string{"random"}, 2, 2, 1, time.Second}); !shown || err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, shown %v, %v, want %+v", got, shown, err, want)
	}
}
