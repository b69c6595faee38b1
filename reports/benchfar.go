package reports

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
)

// atDistance is the benchmark of one distance, and what that is called.
type atDistance struct {
	*cost.Bench
	name string
}

func distances(b *cost.Bench) (all []atDistance) {
	for _, f := range b.Far {
		if f.Rounds > 0 {
			all = append(all, atDistance{f.Bench(b), farName(f.RoundTrip)})
		}
	}
	return all
}

func farName(d time.Duration) string {
	if d == 0 {
		return "near"
	}
	return d.String()
}

func (d atDistance) cycle(lock string) *cost.Figure {
	return d.Figure(cost.Uncontended(lock, cost.Memory), cost.Cycle)
}

func (d atDistance) handOffs(lock string) *cost.Figure {
	return d.Figure(cost.Contended(lock, cost.Memory), cost.HandOffs)
}

// trips is a cycle as a multiple of the round trip that was measured beside it.
func (d atDistance) trips(lock string) *cost.Figure {
	r := cost.Ratio(d.cycle(lock), d.Figure(cost.Uncontended(lock, cost.Memory), cost.Floor))
	if len(r.Values) == 0 {
		return nil
	}
	return &r
}

// farRemarks say at which of the planned distances rounds are missing, and what else the machine did there.
func farRemarks(b *cost.Bench) (list []string) {
	if len(b.Plan.Distances) == 0 || len(b.Plan.Programs) == len(b.Plan.Algorithms) {
		return nil
	}
	for i, d := range slices.Concat([]time.Duration{0}, b.Plan.Distances) {
		at := &cost.Far{}
		if i < len(b.Far) {
			at = b.Far[i]
		}
		if at.Rounds < cost.FarRounds {
			s := fmt.Sprintf("At a distance of %s (--latency) %d of %d rounds were done", farName(d), at.Rounds, cost.FarRounds)
			if d == 0 {
				s = fmt.Sprintf("Near by, where the distances are held against, %d of %d rounds were done", at.Rounds, cost.FarRounds)
			}
			if at.Failed != "" {
				s += ": " + at.Failed
			}
			list = append(list, s+".")
		}
		for _, n := range at.Noise {
			list = append(list, "The machine was not quiet at a distance ("+farName(d)+"): "+n+".")
		}
	}
	return list
}

// farTable is what locks cost by distance; as many distances as a terminal is wide stand there.
func farTable(b *cost.Bench, all []atDistance) benchTable {
	const fit = 3
	t := benchTable{Title: "By the distance of the servers",
		Intro: "The medians of " + farRounds(all) + ", without waiting for a disk. All clients are in one place; each server is so far from them, and from every other server. Packets are kept back on the way, and keep their order. Programs in other languages were left out."}
	for _, d := range all[1:] {
		t.Told = append(t.Told, takeHome(b, all[0], d)...)
	}
	for i, d := range all {
		width := func(w int) int {
			if i >= fit {
				return 0
			}
			return w
		}
		t.Columns = append(t.Columns,
			benchColumn{d.name, "acquire and release, where a round trip takes so long at least", width(9), func(lock string) string { return duration(d.cycle(lock)) }},
			benchColumn{"trips", "the same as a multiple of the cheapest round trip to the same server, which was measured beside it", width(6), func(lock string) string { return number3(d.trips(lock)) }},
			benchColumn{"/s", fmt.Sprintf("hand-offs per second among %d clients there", cost.Contenders), width(8), func(lock string) string { return number3(d.handOffs(lock)) }})
	}
	return t
}

// farRounds says how many rounds were done: at the last distance perhaps fewer.
func farRounds(all []atDistance) string {
	first, last := all[0], all[len(all)-1]
	s := english.Count(first.Rounds, "round")
	if last.Rounds < first.Rounds {
		s += fmt.Sprintf(" (at %s of %d)", last.name, last.Rounds)
	}
	return s
}

// takeHome says what is dearest and cheapest at a distance, and how much less it matters there which lock it is than near by.
func takeHome(b *cost.Bench, near, far atDistance) []string {
	var cycles, hands []end
	var both []string
	measured := 0
	for _, lock := range b.Plan.Algorithms {
		there, here := far.trips(lock), near.trips(lock)
		if there != nil || here != nil { // whoever has no servers is not far from them
			measured++
		}
		if there == nil {
			continue
		}
		cycles = append(cycles, end{lock, there.Median, number3(there)})
		if here != nil {
			both = append(both, lock)
		}
		if f := far.handOffs(lock); f != nil {
			hands = append(hands, end{lock, f.Median, number3(f) + "/s"})
		}
	}
	if len(cycles) < 2 || len(both) < 2 {
		return nil
	}
	told := fmt.Sprintf("At %s, round trips a cycle%s", far.name, fromTo(cycles))
	if len(hands) > 1 {
		told += "; hand-offs" + fromTo(hands)
	}
	times := func(d atDistance) string {
		var all []float64
		for _, lock := range both {
			all = append(all, d.cycle(lock).Median)
		}
		return digits(slices.Max(all) / slices.Min(all))
	}
	the := "The"
	if len(both) < measured {
		the = fmt.Sprintf("Of the %d locks that were measured there and near by, the", len(both))
	}
	return []string{told + fmt.Sprintf(". %s dearest cycle took %s times as long as the cheapest there, and %s times near by.", the, times(far), times(near))}
}

// farLocks are the locks that have servers at one of the distances: the others would take the axis for themselves.
func farLocks(b *cost.Bench, all []atDistance) []string {
	return slices.DeleteFunc(slices.Clone(b.Plan.Algorithms), func(lock string) bool {
		return !slices.ContainsFunc(all, func(d atDistance) bool { return d.trips(lock) != nil })
	})
}

// farPlots are the cycle and the hand-offs of all locks at all distances.
func farPlots(b *cost.Bench) plotGroup {
	all := distances(b)
	g := plotGroup{}
	if len(all) < 2 {
		return g
	}
	var list []series
	for _, d := range all {
		list = append(list, series{d.name, d.Bench, cost.Memory})
	}
	for _, d := range []dots{lockCycle, lockCrowd} {
		d.Title, d.File = d.Title+", by distance", d.File+"-far"
		d.series = list
		if f, ok := d.figure(farLocks(b, all)); ok {
			g.figures = append(g.figures, f)
		}
	}
	return g
}
