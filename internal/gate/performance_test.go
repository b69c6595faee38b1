package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
)

// bench is a benchmark with noise of 5%: of a lock, by how much slower it is than the
// writes, on a machine that is so much slower than another.
func bench(seed uint64, rounds int, slow map[string]float64, machine float64) *cost.Bench {
	r := rand.New(rand.NewPCG(seed, 0))
	b := &cost.Bench{Rounds: rounds, Plan: cost.Plan{Rounds: rounds, Machine: &history.Machine{System: "linux/amd64", Cores: 2}}}
	noise := func() float64 { return math.Exp(.05 * r.NormFloat64()) }
	for _, lock := range []string{"a", "b", "c"} {
		by := slow[lock]
		if by == 0 {
			by = 1
		}
		b.Plan.Algorithms = append(b.Plan.Algorithms, lock)
		for _, s := range []cost.Servers{cost.Disk, cost.Memory} {
			one, all := b.Cell(cost.Uncontended(lock, s), "redis"), b.Cell(cost.Contended(lock, s), "redis")
			for round := range rounds {
				busy := machine * math.Exp(.1*r.NormFloat64()) // both, of this round
				one.Add(round, cost.Writes, 5e4*busy*noise())
				one.Add(round, cost.Cycle, 6e4*busy*by*noise())
				one.Add(round, cost.Requests, 2)
				all.Add(round, cost.HandOffs, 800/machine*noise())
				all.Add(round, cost.P50, 1e5*machine*noise())
				all.Add(round, cost.Barges, .5*noise())
				all.Add(round, cost.Bytes, 500)
			}
		}
	}
	return b
}

func trendOf(p *Performance, k cost.Key, m cost.Measure) Trend {
	i := slices.IndexFunc(p.Figures, func(f Figure) bool { return f.Key == k && f.Measure == m })
	if i < 0 {
		return ""
	}
	return p.Figures[i].Trend
}

// TestMeasured: a lock that got slower is told from a machine that did, and noise is none.
func TestMeasured(t *testing.T) {
	base := bench(1, 12, nil, 1)
	for _, l := range []string{"a", "b", "c"} {
		floors(base, cost.Uncontended(l, cost.Memory), .8)
	}
	cycle := func(lock string) cost.Key { return cost.Uncontended(lock, cost.Memory) }
	crowd := func(lock string) cost.Key { return cost.Contended(lock, cost.Memory) }
	for _, tt := range []struct {
		name        string
		head        *cost.Bench
		prepare     func(*cost.Bench)
		k           cost.Key
		m           cost.Measure
		want        Trend
		worse, gone int
	}{
		{name: "nothing", head: bench(2, 12, nil, 1), k: cycle("a"), m: cost.Cycle, want: Same},
		{name: "a third slower", head: bench(2, 12, map[string]float64{"a": 1.35}, 1), k: cycle("a"), m: cost.Cycle, want: Worse, worse: 2},
		{name: "a third quicker", head: bench(2, 12, map[string]float64{"b": 1 / 1.35}, 1), k: cycle("b"), m: cost.Cycle, want: Better},
		{name: "5% slower", head: bench(2, 12, map[string]float64{"a": 1.05}, 1), k: cycle("a"), m: cost.Cycle, want: Unclear},
		{name: "another machine, twice as slow", head: bench(2, 12, nil, 2), prepare: func(b *cost.Bench) { b.Plan.Machine.Cores = 1 }, k: crowd("a"), m: cost.HandOffs, want: Same},
		{name: "on it a lock that is slower", head: bench(2, 12, map[string]float64{"c": 1.35}, .5), prepare: func(b *cost.Bench) { b.Plan.Machine.Cores = 9 }, k: cycle("c"), m: cost.Cycle, want: Worse, worse: 2},
		{name: "quicker writes, and the lock as it was", head: bench(2, 12, map[string]float64{"a": 2, "b": 2, "c": 2}, .5), k: cycle("a"), m: cost.Cycle, want: Unclear, worse: 0},
		{name: "a machine that is quicker than the lock became slower", head: bench(2, 12, map[string]float64{"a": 1.35}, .6), prepare: func(b *cost.Bench) {
			for _, l := range []string{"a", "b", "c"} {
				floors(b, cost.Uncontended(l, cost.Memory), .8)
			}
		}, k: cycle("a"), m: cost.Cycle, want: Worse, worse: 1},
		{name: "quicker writes, a floor that is a little quicker, and the lock as it was", head: bench(2, 12, map[string]float64{"a": 2, "b": 2, "c": 2}, .5), prepare: func(b *cost.Bench) {
			floors(b, cycle("a"), .8*.96/.5)
		}, k: cycle("a"), m: cost.Cycle, want: Unclear, worse: 0},
		{name: "other requests", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) { change(b, cycle("a"), cost.Requests, 1.5) }, k: cycle("a"), m: cost.Requests, want: Worse, worse: 1},
		{name: "twice the bytes decide nothing", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) { change(b, crowd("a"), cost.Bytes, 2) }, k: crowd("a"), m: cost.Bytes, want: Worse},
		{name: "barging is neither", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) { change(b, crowd("a"), cost.Barges, 1.5) }, k: crowd("a"), m: cost.Barges, want: Other},
		{name: "half the hand-offs", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) { change(b, crowd("b"), cost.HandOffs, .3) }, k: crowd("b"), m: cost.HandOffs, want: Worse, worse: 1},
		{name: "no hand-off any more", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) { change(b, crowd("b"), cost.HandOffs, 0) }, k: crowd("b"), m: cost.HandOffs, want: Worse, worse: 1},
		{name: "the same among neighbours", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) { b.Noise = []string{"busy"}; change(b, crowd("b"), cost.HandOffs, .3) }, k: crowd("b"), m: cost.HandOffs, want: Worse},
		{name: "not measured", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) { delete(b.Find(cycle("b")).Figures, cost.Cycle) }, k: cycle("b"), m: cost.Cycle, want: Gone, gone: 1},
		{name: "three rounds", head: bench(2, 3, map[string]float64{"a": 1.35}, 1), prepare: func(b *cost.Bench) {}, k: cycle("a"), m: cost.Cycle, want: Unsure},
		{name: "no yardstick on another machine", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) { b.Plan.Machine = nil; delete(b.Find(cycle("a")).Figures, cost.Writes) }, k: cycle("a"), m: cost.Cycle, want: Unsure},
		{name: "no yardstick on the same machine", head: bench(2, 12, nil, 1), prepare: func(b *cost.Bench) {
			delete(b.Find(cycle("a")).Figures, cost.Writes)
			change(b, cycle("a"), cost.Cycle, 9)
		}, k: cycle("a"), m: cost.Cycle, want: Worse, worse: 1},
	} {
		if tt.prepare != nil {
			tt.prepare(tt.head)
		}
		first := base
		if tt.name == "three rounds" {
			first = bench(1, 3, nil, 1)
		}
		p := Measured(first, tt.head, .1)
		if got := trendOf(p, tt.k, tt.m); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if worse, gone := p.Trends(Worse, true), p.Trends(Gone, true); len(worse) != tt.worse || len(gone) != tt.gone {
			t.Errorf("%s: %d worse, %d gone, want %d and %d: %+v", tt.name, len(worse), len(gone), tt.worse, tt.gone, worse)
		}
	}
	for _, p := range []*Performance{Measured(nil, base, .1), Measured(base, nil, .1), Measured(nil, nil, .1)} {
		if p.Compared() || p.Told() || len(p.Figures) > 0 {
			t.Errorf("%+v", p)
		}
	}
}

// floors adds the cheapest round trips, as so many times the writes of the same round.
func floors(b *cost.Bench, k cost.Key, writes float64) {
	for _, v := range b.Find(k).Figures[cost.Writes].Values {
		b.Find(k).Add(v.Round, cost.Floor, v.V*writes)
	}
}

// change makes a figure of all rounds so many times what it was.
func change(b *cost.Bench, k cost.Key, m cost.Measure, by float64) {
	c := b.Find(k)
	values := c.Figures[m].Values
	delete(c.Figures, m)
	for _, v := range values {
		c.Add(v.Round, m, v.V*by)
	}
}

// TestLeastDifference: without one, 5% counts if it is significant.
func TestLeastDifference(t *testing.T) {
	base, head := bench(1, 40, nil, 1), bench(2, 40, map[string]float64{"a": 1.15}, 1)
	k := cost.Uncontended("a", cost.Memory)
	for least, want := range map[float64]Trend{0: Worse, .02: Worse, .5: Same} {
		if got := trendOf(Measured(base, head, least), k, cost.Cycle); got != want {
			t.Errorf("least difference %v: %s, want %s", least, got, want)
		}
	}
}

// TestLeastOfCrowds: what many clients share counts from a fifth on, however little one alone may differ.
func TestLeastOfCrowds(t *testing.T) {
	crowd := cost.Contended("a", cost.Memory)
	for by, worse := range map[float64]bool{.88: false, .75: true} {
		base, head := bench(1, 40, nil, 1), bench(2, 40, nil, 1)
		change(head, crowd, cost.HandOffs, by)
		if got := trendOf(Measured(base, head, .02), crowd, cost.HandOffs); (got == Worse) != worse {
			t.Errorf("hand-offs × %v: %s, worse: %t", by, got, worse)
		}
	}
}

// TestSince: a limit can be a share of what was before.
func TestSince(t *testing.T) {
	base := bench(1, 12, nil, 1)
	for text, want := range map[string]Failure{"cycle <= 1.1 * before": Slow, "cycle <= 1.35 * before": "", "cycle < 2 * before": "", "handoff >= 0.8 * before": "", "outage <= before": NoData} {
		l, err := ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		b := Benches{Now: []*cost.Bench{bench(2, 12, map[string]float64{"a": 1.35}, 1)}, Before: base}
		got := Failure("")
		for _, f := range (Config{Limits: []Entry{{Text: text, limit: l}}}).limits(b) {
			if f.Algorithm == "a" {
				got = f.Kind
			} else if f.Kind == Slow {
				t.Errorf("%s: %+v", text, f)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if _, missing := (Benches{Now: b.Now}).Figure("a", "cycle", Before); missing == "" {
			t.Error("compared with nothing")
		}
	}
}
