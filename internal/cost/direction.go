package cost

import "slices"

// Direction is which way a figure is better.
type Direction int

// The directions.
const (
	Less    Direction = -1
	Neither Direction = 0
	More    Direction = 1
)

// Direction of a measure. Barging makes grants cheap and others wait; the cheapest round
// trip and the bare writes are the machine's and the server's, and no lock's.
func (m Measure) Direction() Direction {
	switch m {
	case Grants, HandOffs, Fair:
		return More
	case Barges, Floor, Writes, Asleep:
		return Neither
	}
	return Less
}

// Yardstick is what a measure depends on beside the lock, so that it is held against that
// where the machine may have been another, or busy; "" for what is counted, and for an
// outage, which waits for a lease. It is the bare writes rather than the floor, because they
// wait for the disk where a lock does.
func (m Measure) Yardstick() Measure {
	switch m {
	case Cycle, P50, P99, Longest, Grants, HandOffs:
		return Writes
	case ServerNS, ClientNS:
		return Floor
	}
	return ""
}

// Relative is a measure of a cell in terms of its yardstick, measured in the same round by
// one client on the same servers: a time as a multiple of it, a rate as how many in its
// time. It has no values where there is no yardstick.
func (b *Bench) Relative(k Key, m Measure) Figure {
	of, to := b.Figure(k, m), b.Figure(Uncontended(k.Algorithm, k.Servers), m.Yardstick())
	switch m {
	case Grants, HandOffs:
		return byRound("per "+string(m.Yardstick()), of, to, func(rate, ns float64) float64 { return rate * ns / 1e9 })
	}
	return Ratio(of, to)
}

// Decides reports whether a measure is one of those that users of a lock feel, taken where
// every benchmark takes it: those raise an alarm, and the others explain. An open loop's
// p99 is one of them. A p99 of so few that it is the longest of them is none.
//
// Where the machine was not quiet, contended figures and those that wait for the disk are
// the neighbours' as much as the lock's. What still decides is what is counted, and the
// cycle in memory, which is measured in turn with its yardstick, milliseconds apart.
func (b *Bench) Decides(k Key, m Measure) bool {
	if len(b.Noise) > 0 && m != Requests && (m != Cycle || k.Servers == Disk || b.Figure(k, Writes) == nil) {
		return false
	}
	return b.felt(k, m)
}

// felt reports whether users feel it, and rounds are rounds: a program has one turn for all.
func (b *Bench) felt(k Key, m Measure) bool {
	if slices.Contains(b.Plan.Programs, k.Algorithm) {
		return false
	}
	f := b.Figure(k, m)
	tail := m == P99 && (f == nil || b.Find(k).Count >= 100*len(f.Values))
	switch k {
	case Uncontended(k.Algorithm, k.Servers):
		return m == Cycle || m == Requests
	case Contended(k.Algorithm, k.Servers):
		return m == HandOffs || m == P50 || tail
	}
	return k.Loop == Open && tail
}
