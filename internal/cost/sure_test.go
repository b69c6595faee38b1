package cost

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestUnsure: a figure is held against its yardstick, so that what moves both alike makes none unsure; and
// it is unsure as long as nobody can say how sure it is.
func TestUnsure(t *testing.T) {
	b := &Bench{Plan: Plan{Precision: .05}}
	add := func(name string, rounds int, cycle func(writes float64, round int) float64) {
		c := b.Cell(Uncontended(name, Memory), "one")
		for round := range rounds {
			writes := float64(1000 * (1 + round%3)) // by turns a slow machine and a quick one
			c.Add(round, Writes, writes)
			c.Add(round, Cycle, cycle(writes, round))
			c.Add(round, Requests, float64(round))
		}
	}
	add("steady", 8, func(w float64, round int) float64 { return 2 * w * (1 + .004*float64(round)) })
	add("erratic", 8, func(w float64, round int) float64 { return 2 * w * (1 + .04*float64(round)) })
	add("brief", 2, func(w float64, _ int) float64 { return 2 * w })
	program := b.Cell(Uncontended("program", Memory), "one")
	program.Add(0, Writes, 1)
	program.Add(0, Cycle, 2)
	b.Plan.Programs = []string{"program"}
	b.Cell(Uncontended("without servers", Memory), "none").Add(0, Cycle, 2)
	var names []string
	for _, j := range b.Unsure() {
		names = append(names, j.Algorithm)
	}
	if all := b.Judge(); len(all) != 3 || !slices.Equal(names, []string{"erratic", "brief"}) {
		t.Errorf("%d judged, unsure: %q", len(all), names)
	}
}

func TestReach(t *testing.T) {
	for want, s := range map[float64]Summary{
		0: {Median: 5, Low: 5, High: 5}, .5: {Median: 4, Low: 3, High: 6}, .25: {Median: 4, Low: 3, High: 4},
	} {
		if got := s.Reach(); got != want {
			t.Errorf("%+v: %v, want %v", s, got, want)
		}
	}
}

// TestNeeded: of so many rounds as are said to be needed, nine of ten figures are sure, give or take what so rough an estimate
// may be wrong by; with figures that a few rounds leave without an interval nothing is said.
func TestNeeded(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	measured := func(rounds int) *Bench {
		b := &Bench{Plan: Plan{Precision: .05}, Rounds: rounds}
		for lock := range 200 {
			c := b.Cell(Uncontended(string(rune('a'+lock)), Memory), "one")
			for round := range rounds {
				c.Add(round, Writes, 1)
				c.Add(round, Cycle, 100*math.Exp(.15*random.NormFloat64()))
			}
		}
		return b
	}
	if n := measured(5).Needed(); n != 0 {
		t.Errorf("after 5 rounds, of which nobody knows how sure they are: %d", n)
	}
	for _, rounds := range []int{8, 16, 60} {
		n := measured(rounds).Needed()
		b := measured(n)
		sure := float64(len(b.Judge())-len(b.Unsure())) / float64(len(b.Judge()))
		t.Logf("after %d rounds: %d needed, and of so many %.0f%% are sure", rounds, n, 100*sure)
		if sure < .8 {
			t.Errorf("after %d rounds it said %d, after which %.0f%% are sure", rounds, n, 100*sure)
		}
		if less := measured(n / 4); len(less.Unsure()) < len(less.Judge())/5 {
			t.Errorf("after %d rounds it said %d, and a quarter of them does", rounds, n)
		}
	}
}
