package cost

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDiffer: the ratio is what was done to the values, and the interval has it.
func TestDiffer(t *testing.T) {
	before := []float64{100, 101, 99, 103, 98, 102, 97, 104, 96, 105}
	now := make([]float64, len(before))
	for i, v := range before {
		now[i] = 1.3 * v
	}
	d, ok := Differ(before, now)
	if !ok || math.Abs(d.Ratio-1.3) > .01 || d.Low > 1.3 || d.High < 1.3 || d.Low < 1.25 || d.High > 1.35 || d.Confidence < .95 || d.P > 1e-4 {
		t.Errorf("a third more: %+v", d)
	}
	if d, _ := Differ(before, before); d.Ratio != 1 || d.P != 1 || d.Low > 1 || d.High < 1 || d.Least == 1 {
		t.Errorf("the same: %+v", d)
	}
	if d, _ := Differ([]float64{2, 2, 2, 2}, []float64{2, 2, 2, 2}); d.Ratio != 1 || d.P != 1 || d.Least != 1 {
		t.Errorf("always 2: %+v", d)
	}
	if d, _ := Differ([]float64{2, 2, 2, 2, 2}, []float64{3, 3, 3, 3, 3}); d.Ratio != 1.5 || d.Low != 1.5 || d.P > .01 {
		t.Errorf("always 2, then always 3: %+v", d)
	}
	if d, _ := Differ([]float64{5, 6, 7}, []float64{50, 60, 70}); d.Confidence != 0 || d.P < Significance || d.Low != 50./7 || d.High != 14 {
		t.Errorf("too few for an interval: %+v", d)
	}
	if d, _ := Differ([]float64{0, 0, 0, 0}, []float64{1, 2, 3, 4}); d.Ratio != immense || d.High != immense {
		t.Errorf("of nothing: %+v", d)
	}
	if d, _ := Differ([]float64{1, 2, 3, 4}, []float64{0, 0, 0, 0}); d.Ratio != 1/immense || d.P > Significance {
		t.Errorf("nothing any more: %+v", d)
	}
	for _, none := range [][2][]float64{{nil, {1}}, {{1}, nil}} {
		if _, ok := Differ(none[0], none[1]); ok {
			t.Errorf("%v are compared", none)
		}
	}
}

// TestInterval: it has those ratios, and only those, that the test does not refute.
func TestInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		before, now := make([]float64, 4+r.IntN(12)), make([]float64, 4+r.IntN(12))
		for _, values := range [][]float64{before, now} {
			for i := range values {
				values[i] = math.Exp(r.NormFloat64())
			}
		}
		d, _ := Differ(before, now)
		for _, side := range []struct {
			name    string
			ratio   float64
			refuted bool
		}{{"below", d.Low * .9999999, true}, {"low", d.Low * 1.0000001, false}, {"high", d.High * .9999999, false}, {"above", d.High * 1.0000001, true}} {
			scaled := slices.Clone(before)
			for i := range scaled {
				scaled[i] *= side.ratio
			}
			if p := mannWhitney(scaled, now); (p <= Significance) != side.refuted {
				t.Errorf("%d: %d and %d values, %s the interval: p = %v", n, len(before), len(now), side.name, p)
			}
		}
	}
}

// TestLeftOut compares with the published table of critical values of U, two-sided at 5%.
// Source: H. B. Mann, D. R. Whitney, "On a Test of Whether one of Two Random Variables is
// Stochastically Larger than the Other", 1947, as tabulated since.
func TestLeftOut(t *testing.T) {
	for sizes, want := range map[[2]int]int{{3, 3}: -1, {4, 4}: 0, {5, 5}: 2, {6, 6}: 5, {5, 8}: 6, {8, 8}: 13, {10, 10}: 23, {10, 20}: 55, {20, 20}: 127} {
		if got := leftOut(sizes[0], sizes[1]); got != want {
			t.Errorf("%v: %d, want %d", sizes, got, want)
		}
	}
	for n, want := range map[int]float64{3: .1, 4: .02857142857142857, 6: .0021645021645021645, 9: 4.113533525298231e-05} {
		if got := least(n, n); math.Abs(got-want) > 1e-12 {
			t.Errorf("the least p of %d and %d is %v, want %v", n, n, got, want)
		}
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{.01, .04, .03, .005})
	for i, want := range []float64{.03, .06, .06, .02} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%v", got)
		}
	}
	if got := Holm([]float64{.9, .8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v", got)
	}
	if len(Holm(nil)) != 0 {
		t.Error("of none")
	}
}

// TestNoiseAlone: figures that differ by noise alone are told apart no more often than the
// significance says, and a third more is.
func TestNoiseAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(by float64) []float64 {
		values := make([]float64, 10)
		for i := range values {
			values[i] = by * math.Exp(.1*r.NormFloat64())
		}
		return values
	}
	const pairs = 2000
	alarms, outside, seen := 0, 0, 0
	for range pairs {
		if d, _ := Differ(draw(1), draw(1)); d.P <= Significance {
			alarms++
		} else if d.Low > 1 || d.High < 1 {
			outside++
		}
		if d, _ := Differ(draw(1), draw(1.3)); d.P <= Significance && d.Low >= 1.1 {
			seen++
		}
	}
	if alarms > pairs*6/100 || outside > 0 || seen < pairs*9/10 {
		t.Errorf("of %d pairs %d differ by noise, %d have an interval that says otherwise, and %d of those that do differ were seen", pairs, alarms, outside, seen)
	}
}

func TestRelative(t *testing.T) {
	b := &Bench{Plan: Plan{Algorithms: []string{"a"}}}
	one, all := b.Cell(Uncontended("a", Disk), "redis"), b.Cell(Contended("a", Disk), "redis")
	for round, slow := range []float64{1, 2, 4} { // a machine that gets slower
		one.Add(round, Cycle, 3e6*slow)
		one.Add(round, Writes, 2e6*slow)
		one.Add(round, Floor, 1e6*slow)
		all.Add(round, HandOffs, 250/slow)
		all.Add(round, ClientNS, 5e6*slow)
		all.Add(round, Requests, 4)
	}
	for m, want := range map[Measure]float64{Cycle: 1.5, HandOffs: .5, ClientNS: 5} {
		k := all.Key
		if m == Cycle {
			k = one.Key
		}
		f := b.Relative(k, m)
		if len(f.Values) != 3 || math.Abs(f.Low-want) > 1e-9 || math.Abs(f.High-want) > 1e-9 {
			t.Errorf("%s: %+v, want %v in every round", m, f, want)
		}
	}
	if f := b.Relative(all.Key, Requests); len(f.Values) != 0 {
		t.Errorf("what is counted has a yardstick: %+v", f)
	}
}

// TestDecides: on a machine that was not quiet, only what the neighbours can't have done.
func TestDecides(t *testing.T) {
	b := &Bench{}
	for _, s := range []Servers{Disk, Memory} {
		b.Cell(Uncontended("a", s), "").Add(0, Writes, 1)
		c := b.Cell(Contended("a", s), "")
		c.Add(0, P99, 1)
		c.Count = 100
		open := b.Cell(Key{"a", s, Open, Contenders, 1}, "")
		open.Add(0, P99, 1)
		open.Count = 99
	}
	decide := func() (n int) {
		for _, c := range b.Cells {
			for m := range Units {
				if b.Decides(c.Key, m) {
					n++
				}
			}
		}
		return n
	}
	if n := decide(); n != 2*(2+3) {
		t.Errorf("%d decide: cycle and requests, hand-offs, p50 and p99, on the disk and in memory", n)
	}
	b.Find(Contended("a", Disk)).Count = 50
	if n := decide(); n != 2*(2+3)-1 {
		t.Errorf("%d decide: a p99 of 50 is none", n)
	}
	b.Noise = []string{"others were busy"}
	if n := decide(); n != 3 {
		t.Errorf("%d decide where it was not quiet: the cycle in memory, and the requests of both", n)
	}
}
