package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
)

// Performance is a benchmark beside an earlier one.
type Performance struct {
	// Least is the least difference that counts: with 0.1 a time must be 1.1 times as long,
	// or a rate 1.1 times as small. For what many clients share see [Performance.LeastOf].
	Least float64 `json:"min_difference"`
	// SameMachine: nothing is known in which the machines differ.
	SameMachine bool `json:"same_machine"`
	// Quiet: the machine did nothing else, before or now. Else fewer figures decide.
	Quiet bool `json:"quiet"`
	// Figures are all that one of the two has measured of locks with servers, in the order of
	// the benchmarks.
	Figures []Figure `json:"figures"`

	base, head *cost.Bench
}

// Figure is one figure before and now.
type Figure struct {
	cost.Key
	Measure cost.Measure `json:"measure"`
	Unit    string       `json:"unit"`
	// Decides: it raises an alarm, as those do that users of a lock feel. The others explain.
	Decides bool  `json:"decides"`
	Trend   Trend `json:"trend"`
	// Why nothing can be told, or what is behind it.
	Why string `json:"why,omitempty"`
	// Itself is the figure as it was measured, and Relative in terms of its yardstick, see
	// [cost.Measure.Yardstick]: this counts where it is known.
	Itself    Sides        `json:"itself"`
	Relative  *Sides       `json:"relative,omitempty"`
	Yardstick cost.Measure `json:"yardstick,omitempty"`
	// P is that of the difference that counts, corrected for all that are tested together.
	P float64 `json:"corrected_p"`

	floors *cost.Difference // of a cycle in terms of the floor, a second yardstick
}

// Sides are the medians of a figure before and now, nil where it was not measured, and how
// they differ.
type Sides struct {
	Base       *cost.Summary    `json:"base,omitempty"`
	Head       *cost.Summary    `json:"head,omitempty"`
	Difference *cost.Difference `json:"difference,omitempty"`
}

// Medians is how the medians alone stand to each other, 0 where that can't be told.
func (s Sides) Medians() float64 {
	if s.Base == nil || s.Head == nil || s.Base.Median == 0 {
		return 0
	}
	return s.Head.Median / s.Base.Median
}

func sides(base, head *cost.Figure) (s Sides) {
	if base != nil {
		s.Base = &base.Summary
	}
	if head != nil {
		s.Head = &head.Summary
	}
	if base != nil && head != nil {
		if d, ok := cost.Differ(base.Plain(), head.Plain()); ok {
			s.Difference = &d
		}
	}
	return s
}

// Counts are the sides that count.
func (f Figure) Counts() Sides {
	if f.Relative != nil {
		return *f.Relative
	}
	return f.Itself
}

// Measured compares two benchmarks, either of which may be nil.
//
// A figure is worse if the test refutes that nothing has changed, by a P that is corrected
// for all figures that decide, and if the whole interval of its difference is past the least
// one that counts. It is compared in terms of its yardstick, because a machine that is
// slower, or busy, slows that as well. On the same machine it must be worse in itself, too,
// by as much, or, of a cycle, held against the floor by as much: else the yardstick alone has changed.
func Measured(base, head *cost.Bench, least float64) *Performance {
	p := &Performance{Least: least, Figures: []Figure{}, base: base, head: head}
	if base == nil || head == nil {
		return p
	}
	p.SameMachine = sameMachine(base.Plan.Machine, head.Plan.Machine)
	p.Quiet = len(base.Noise)+len(head.Noise) == 0
	for _, k := range keys(base, head) {
		for _, m := range measuresOf(base.Find(k), head.Find(k)) {
			p.Figures = append(p.Figures, p.figure(k, m))
		}
	}
	p.judge(func(f Figure) bool { return f.Decides })
	for m := range cost.Units {
		p.judge(func(f Figure) bool { return !f.Decides && f.Measure == m })
	}
	return p
}

// Compared reports whether there were two benchmarks.
func (p *Performance) Compared() bool { return p.base != nil && p.head != nil }

// Vanished reports whether the costs were measured before, and are no more.
func (p *Performance) Vanished() bool { return p.base != nil && p.head == nil }

// Told reports whether some figure decides.
func (p *Performance) Told() bool {
	return slices.ContainsFunc(p.Figures, func(f Figure) bool { return f.Decides })
}

func sameMachine(a, b *history.Machine) bool {
	return a != nil && b != nil && a.System == b.System && a.Kernel == b.Kernel && a.Cores == b.Cores
}

// keys are those of both, in the order of the newer one, but for rows without servers: they
// are no locks, but what there is without one.
func keys(base, head *cost.Bench) (all []cost.Key) {
	for _, b := range []*cost.Bench{head, base} {
		for _, c := range b.Cells {
			if b.Served(c.Algorithm) && !slices.Contains(all, c.Key) {
				all = append(all, c.Key)
			}
		}
	}
	return all
}

// measuresOf are those of both cells, but for what is the machine's and no lock's.
func measuresOf(cells ...*cost.Cell) (all []cost.Measure) {
	for _, c := range cells {
		if c == nil {
			continue
		}
		for _, m := range slices.Sorted(maps.Keys(c.Figures)) {
			if m != cost.Floor && m != cost.Writes && m != cost.Asleep && !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all
}

// figure compares one, and judges nothing.
func (p *Performance) figure(k cost.Key, m cost.Measure) Figure {
	f := Figure{Key: k, Measure: m, Unit: cost.Units[m], Decides: p.base.Decides(k, m) && p.head.Decides(k, m), Trend: Same, P: 1}
	base, head := p.base.Figure(k, m), p.head.Figure(k, m)
	f.Itself = sides(base, head)
	switch {
	case base == nil:
		f.Trend = New
	case head == nil:
		f.Trend, f.Why = Gone, "it was not measured"
		if c := p.head.Find(k); c != nil && m == cost.Outage && c.Never > 0 {
			f.Why = fmt.Sprintf("after %s of a holder nobody got the lock", english.Count(c.Never, "death"))
		} else if c != nil && c.Failed != "" {
			f.Why = c.Failed
		}
	}
	before, now := p.base.Relative(k, m), p.head.Relative(k, m)
	if of := sides(&before, &now); of.Difference != nil {
		f.Relative, f.Yardstick = &of, m.Yardstick()
	}
	if m == cost.Cycle {
		before, now := cost.Ratio(base, p.base.Figure(k, cost.Floor)), cost.Ratio(head, p.head.Figure(k, cost.Floor))
		f.floors = sides(&before, &now).Difference
	}
	return f
}

// judge gives the figures that are tested together their trends: those that decide, or the
// others of a measure.
func (p *Performance) judge(together func(Figure) bool) {
	var tests []*Figure
	var ps []float64
	for i := range p.Figures {
		f := &p.Figures[i]
		if !together(*f) || f.Trend != Same {
			continue
		}
		if !p.SameMachine && f.Relative == nil && f.Measure.Yardstick() != "" {
			f.Trend, f.Why = Unsure, "the machine is not the same, and there is no yardstick: no bare writes were measured on these servers"
			continue
		}
		switch d := f.Counts().Difference; {
		case d == nil:
			f.Trend, f.Why = Unsure, "it has no values"
		case d.Least == 1: // as it was, to the last digit
		case d.Least > cost.Significance:
			f.Trend, f.Why = Unsure, "too few rounds"
		default:
			tests, ps = append(tests, f), append(ps, d.P)
		}
	}
	for i, corrected := range cost.Holm(ps) {
		f := tests[i]
		f.P = corrected
		switch d := f.Counts().Difference; {
		case corrected <= cost.Significance:
			f.Trend = p.trend(*f)
		case d.Low >= 1/(1+p.LeastOf(*f)) && d.High <= 1+p.LeastOf(*f):
		case d.Least*float64(len(tests)) > cost.Significance:
			f.Trend, f.Why = Unsure, fmt.Sprintf("too few rounds to tell among %d figures", len(tests))
		default:
			f.Trend = Unclear
		}
	}
}

// ofCrowds is the least difference that counts of what many clients share. How they meet is not the same in two
// benchmarks of one build: of ten, held against each other, cycles differed by up to 5%, and hand-offs and their
// medians by up to 20%.
const ofCrowds = .20

// LeastOf is the least difference of a figure that counts.
func (p *Performance) LeastOf(f Figure) float64 {
	if f.Clients > 1 {
		return max(p.Least, ofCrowds)
	}
	return p.Least
}

// trend is which way the whole interval of a difference lies, if it counts.
func (p *Performance) trend(f Figure) Trend {
	d, itself, floors, least := f.Counts().Difference, f.Itself.Difference, f.floors, p.LeastOf(f)
	more := d.Low >= 1+least && (!p.SameMachine || itself.Low > 1 && itself.Ratio >= 1+least || floors != nil && floors.Low > 1 && floors.Ratio >= 1+least)
	less := d.High <= 1/(1+least) && (!p.SameMachine || itself.High < 1 && itself.Ratio <= 1/(1+least) || floors != nil && floors.High < 1 && floors.Ratio <= 1/(1+least))
	switch to := f.Measure.Direction(); {
	case d.Low >= 1/(1+least) && d.High <= 1+least:
		return Same
	case !more && !less:
		return Unclear
	case to == cost.Neither:
		return Other
	case more == (to == cost.More):
		return Better
	}
	return Worse
}

// Trends are the figures of a trend, of those that decide or of the others.
func (p *Performance) Trends(t Trend, decides bool) (list []Figure) {
	for _, f := range p.Figures {
		if f.Trend == t && f.Decides == decides {
			list = append(list, f)
		}
	}
	return list
}
