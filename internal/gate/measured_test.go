package gate

import (
	"math"
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/cost"
)

// TestBenches holds a benchmark to limits: what is past them by its whole interval, what
// may be noise, and what was not measured.
func TestBenches(t *testing.T) {
	b := &cost.Bench{Plan: cost.Plan{Algorithms: []string{"base", "slow", "deaf"}, Baseline: "base", Rounds: 6}}
	add := func(algorithm string, m cost.Measure, values ...float64) *cost.Cell {
		key := cost.Contended(algorithm, cost.Disk)
		if m == cost.Cycle || m == cost.Outage {
			key = cost.Uncontended(algorithm, cost.Disk)
		}
		c := b.Cell(key, "redis")
		for round, v := range values {
			c.Add(round, m, v)
		}
		return c
	}
	add("base", cost.HandOffs, 100, 102, 98, 101, 99, 100)
	add("slow", cost.HandOffs, 70, 71, 69, 70, 72, 68) // 30% less in every round
	add("base", cost.P99, 1e6, 9e6, 2e6, 3e6, 2e6, 1e6)
	add("slow", cost.Cycle, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6)
	add("deaf", cost.Outage).Never = 3
	add("slow", cost.Outage, 1.8e9, 1.9e9, 1.7e9)
	for _, tt := range []struct {
		limit string
		want  map[string]Failure // of each algorithm with a finding
	}{
		{"handoff >= 0.9 * baseline", map[string]Failure{"slow": Slow, "deaf": NoData}},
		{"handoff >= 0.6 * baseline", map[string]Failure{"deaf": NoData}},
		{"handoff > 60/s", map[string]Failure{"deaf": NoData}},
		{"p(99) < 5ms", map[string]Failure{"slow": NoData, "deaf": NoData}}, // noise alone may be past it
		{"p(99) < 900us", map[string]Failure{"base": Slow, "slow": NoData, "deaf": NoData}},
		{"cycle < 2ms", map[string]Failure{"base": NoData, "slow": Slow, "deaf": NoData}},
		{"cycle <= 2ms", map[string]Failure{"base": NoData, "deaf": NoData}},
		{"outage < 1s", map[string]Failure{"base": NoData, "slow": Undecided, "deaf": Slow}}, // of three rounds there is no interval
		{"outage < 3s", map[string]Failure{"base": NoData, "deaf": Slow}},
	} {
		l, err := ParseLimit(tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Failure{}
		for _, f := range (Config{Limits: []Entry{{Text: tt.limit, limit: l}}}).limits(Benches{Now: []*cost.Bench{b}}) {
			got[f.Algorithm] = f.Kind
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.limit, got, tt.want)
		}
		for a, k := range tt.want {
			if got[a] != k {
				t.Errorf("%s of %s: %q, want %q", tt.limit, a, got[a], k)
			}
		}
	}
	if e, missing := (Benches{Now: []*cost.Bench{b}}).Figure("deaf", "outage", Itself); missing != "" || !math.IsInf(e.Low, 1) {
		t.Errorf("an outage that never ended: %+v, %q", e, missing)
	}
}

// TestOfWhichServers: a limit is held to what was measured with servers that keep what they confirm; that their memory is fast
// says nothing of those whose disk could not be measured. Of borrowed ones there is one kind, and a lock without servers has none.
func TestOfWhichServers(t *testing.T) {
	disk := &cost.Bench{Plan: cost.Plan{Algorithms: []string{"failed", "local"}}}
	disk.Cell(cost.Uncontended("failed", cost.Disk), "redis").Failed = "the server did not start"
	given := &cost.Bench{Plan: cost.Plan{Algorithms: []string{"borrowed"}, Addrs: "127.0.0.1:1"}}
	for round := range 6 {
		for _, a := range []string{"failed", "local"} {
			disk.Cell(cost.Uncontended(a, cost.Memory), "").Add(round, cost.Cycle, 1e6)
		}
		given.Cell(cost.Uncontended("borrowed", cost.Given), "").Add(round, cost.Cycle, 2e6)
	}
	of := Benches{Now: []*cost.Bench{disk, given}}
	for algorithm, want := range map[string]float64{"failed": 0, "local": .001, "borrowed": .002} {
		if e, missing := of.Figure(algorithm, "cycle", Itself); (missing == "") != (want > 0) || e.Median != want || e.Few {
			t.Errorf("%s: %+v, %q; want %v", algorithm, e, missing, want)
		}
	}
}

// TestWhyMissing: what was not measured is told with the reason that the benchmark has, of the lock itself, of what it is held
// against, or of before.
func TestWhyMissing(t *testing.T) {
	bench := func(failed ...string) *cost.Bench {
		b := &cost.Bench{Plan: cost.Plan{Algorithms: []string{"base", "lock", "new"}, Baseline: "base"}}
		for _, a := range []string{"base", "lock"} {
			c := b.Cell(cost.Uncontended(a, cost.Disk), "redis")
			if slices.Contains(failed, a) {
				c.Failed = "the server did not start"
				continue
			}
			for round := range 6 {
				c.Add(round, cost.Cycle, 1e6)
			}
		}
		return b
	}
	const why = "it was not measured: the server did not start"
	for _, tt := range []struct {
		now, before *cost.Bench
		lock        string
		to          To
		want        string
	}{
		{bench("lock"), nil, "lock", Itself, why},
		{bench("lock"), nil, "lock", Baseline, why},
		{bench("base"), nil, "lock", Baseline, "of the baseline, base, " + why},
		{bench(), bench("lock"), "lock", Before, "before, " + why},
		{bench(), nil, "new", Itself, "it was not measured"},
		{bench(), bench(), "lock", Before, ""},
	} {
		if _, missing := (Benches{Now: []*cost.Bench{tt.now}, Before: tt.before}).Figure(tt.lock, "cycle", tt.to); missing != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.lock, tt.to, missing, tt.want)
		}
	}
}
