package clock

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// world is a recorder's clock as it really is: pieces of different drift, the next from each of the
// reference's times on.
type world struct {
	from  []lb.Instant
	drift []float64
	shows []float64 // at from
}

const begin = lb.Instant(100e9)

// newWorld has a clock that is up to an hour ahead, and drifts within what is allowed: now so, now so.
func newWorld(r *rand.Rand, pieces int, length time.Duration) *world {
	w := &world{from: []lb.Instant{0}, drift: []float64{(2*r.Float64() - 1) * Strays / 1e9}, shows: []float64{r.Float64() * 3600e9}}
	for i := range pieces {
		at := begin + lb.Instant(length)*lb.Instant(i)/lb.Instant(pieces)
		w.shows, w.from = append(w.shows, float64(w.at(at))), append(w.from, at)
		w.drift = append(w.drift, (2*r.Float64()-1)*Strays/1e9*0.999) // of the recorder's time
	}
	return w
}

// at is what the recorder's clock shows at a time of the reference's.
func (w *world) at(t lb.Instant) lb.Instant {
	i := 0
	for i+1 < len(w.from) && w.from[i+1] <= t {
		i++
	}
	return lb.Instant(math.Round(w.shows[i] + float64(t-w.from[i])*(1+w.drift[i])))
}

// compare makes round trips from begin on, with nobody answering for a while in the middle. Each way takes
// some time; lopsided, one of them takes all.
func (w *world) compare(r *rand.Rand, length time.Duration, lopsided bool) *Bounds {
	var b Bounds
	for t := begin; t < begin.Add(length); t = t.Add(20*time.Millisecond + time.Duration(r.IntN(20e6))) {
		if gap := begin.Add(length / 3); t > gap && t < gap.Add(length/4) {
			b.Add(t, w.at(gap.Add(length/4)), w.at(gap.Add(length/4)), gap.Add(length/4)+50_000) // it goes on, and answers
			t = gap.Add(length / 4)
			continue
		}
		there, thinks, back := time.Duration(r.ExpFloat64()*80e3), time.Duration(r.ExpFloat64()*10e3), time.Duration(r.ExpFloat64()*80e3)
		if lopsided {
			there, back = 0, there+back
		}
		came := t.Add(there)
		left := came.Add(thinks)
		b.Add(t, w.at(came), w.at(left), left.Add(back))
	}
	return &b
}

// wrong is by how much a line is wrong, as a part of what it says it may be, where it is most: at every
// time from a moment before the measurements to long after them.
func (w *world) wrong(l Line, length time.Duration) (worst float64) {
	const rounding = 1 // of a time in whole ns
	for t := begin.Add(-time.Second); t < begin.Add(2*length); t = t.Add(length / 997) {
		shows := w.at(t)
		by := math.Abs(float64(shows+lb.Instant(l.At(shows))-t)) - rounding
		worst = max(worst, by/float64(l.Err(shows)))
	}
	return worst
}

// TestBounds: the true offset is within what round trips say, whatever the clock does and however long each way
// takes; and bounds that are a little tighter are wrong.
func TestBounds(t *testing.T) {
	t.Parallel()
	tighter := map[string]func(l Line) Line{
		"a tenth less":            func(l Line) Line { l.Error -= l.Error / 10; return l },
		"half a trip":             func(l Line) Line { l.Error = 80 * time.Microsecond; return l },
		"no drift":                func(l Line) Line { l.PPB = 0; return l },
		"nothing strays":          func(l Line) Line { l.Strays = 0; return l },
		"a tenth strays less":     func(l Line) Line { l.Strays -= l.Strays / 10; return l },
		"a tenth more of an hour": func(l Line) Line { l.Offset += l.Offset / 10; return l },
	}
	caught := map[string]int{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		length := time.Duration(1+r.IntN(20)) * time.Second / 2
		w := newWorld(r, 1+r.IntN(6), length)
		b := w.compare(r, length, seed%2 == 0)
		l, err := b.Line()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if wrong := w.wrong(l, length); wrong > 1 {
			t.Errorf("seed %d: the true offset is %.3f times as far from the line as may be: %+v", seed, wrong, l)
		}
		for name, mutant := range tighter {
			if w.wrong(mutant(l), length) > 1 {
				caught[name]++
			}
		}
		for at := begin; at < begin.Add(length); at = at.Add(length / 50) {
			if first := b.Earliest(w.at(at)); first > at {
				t.Errorf("seed %d: %d was no earlier than %d", seed, at, first)
			}
		}
	}
	t.Logf("of 300 worlds so many catch a bound that is too tight: %v", caught)
	for name := range tighter {
		if caught[name] == 0 {
			t.Errorf("%s: no world is out of bounds then: they are too wide, or the worlds too kind", name)
		}
	}
}

// TestSteady: of a clock that drifts evenly, as one of quartz does, the line is as good as the trips are short, however
// long the run; one offset for all would be wrong by half of the drift.
func TestSteady(t *testing.T) {
	t.Parallel()
	for _, length := range []time.Duration{5 * time.Second, time.Minute, 10 * time.Minute} {
		var b Bounds
		w := &world{from: []lb.Instant{0}, drift: []float64{200e-6}, shows: []float64{3600e9}}
		r := rand.New(rand.NewPCG(2, 3))
		for at := begin; at < begin.Add(length); at = at.Add(50 * time.Millisecond) {
			came := at.Add(60*time.Microsecond + time.Duration(r.IntN(100_000)))
			b.Add(at, w.at(came), w.at(came.Add(5*time.Microsecond)), came.Add(70*time.Microsecond+time.Duration(r.IntN(100_000))))
		}
		l, err := b.Line()
		if err != nil {
			t.Fatal(err)
		}
		one := l.Error + time.Duration(math.Abs(float64(l.PPB))/1e9*float64(length))/2
		t.Logf("%v: ±%v, and ±%v with one offset", length, l.Error, one)
		if l.Error > 250*time.Microsecond || w.wrong(l, length) > 1 {
			t.Errorf("%v: %+v", length, l)
		}
	}
}

// TestBoundsContradict: a clock that is set, or steered faster than is allowed, is found out.
func TestBoundsContradict(t *testing.T) {
	t.Parallel()
	for what, shows := range map[string]func(t lb.Instant) lb.Instant{
		"set":   func(t lb.Instant) lb.Instant { return t + 1e9*(t/(begin+1e9)) },
		"fast":  func(t lb.Instant) lb.Instant { return t + t/900 },
		"slow":  func(t lb.Instant) lb.Instant { return t - t/900 },
		"sound": func(t lb.Instant) lb.Instant { return t + t/1100 },
	} {
		var b Bounds
		for at := begin; at < begin+2e9; at += 10e6 {
			b.Add(at, shows(at+20e3), shows(at+20e3), at+40e3)
		}
		if _, err := b.Line(); (err == nil) != (what == "sound") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if l, err := new(Bounds).Line(); err == nil {
		t.Errorf("nothing was measured: %+v", l)
	}
}

// ExampleLine shows what a line says within its measurements and beyond them.
func ExampleLine() {
	l := Line{Offset: -1000, PPB: 100_000_000, From: 5000, To: 6000, Error: 7, Strays: 10_000_000}
	for _, t := range []lb.Instant{4000, 5000, 5500, 6000, 8000} {
		fmt.Println(t+lb.Instant(l.At(t)), "±", int64(l.Err(t)))
	}
	// Output:
	// 3000 ± 17
	// 4000 ± 7
	// 4550 ± 7
	// 5100 ± 7
	// 7100 ± 27
}
