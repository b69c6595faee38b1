package bench

import (
	"fmt"
	"os"
)

// neighbours tells what others do while it is measured: what the processors did, less
// what our own processes did. Interrupts count as nobody's, since they are mostly our own
// packets.
type neighbours struct {
	known  bool
	last   times
	ours   float64
	others []float64 // share of all cores, by round
	steal  []float64
}

// newNeighbours begins to look. It knows nothing where /proc is that of other namespaces
// than ours, and would take ourselves for others; nor where it is that of all of the
// machine, and would take others for ours.
func newNeighbours() *neighbours {
	self, err := os.Readlink("/proc/self")
	n := &neighbours{known: err == nil && self == "1"}
	n.last, _ = readTimes()
	n.ours = ticks(byProcess())
	return n
}

func ticks(all map[int]process) (sum float64) {
	for _, p := range all {
		sum += p.ticks
	}
	return sum
}

// look ends a round.
func (n *neighbours) look() {
	now, ok := readTimes()
	ours := ticks(byProcess())
	d := now.since(n.last)
	if n.known = n.known && ok; n.known && d.total > 0 {
		n.others = append(n.others, max(0, d.busy-(ours-n.ours))/d.total)
		n.steal = append(n.steal, d.steal/d.total)
	}
	n.last, n.ours = now, ours
}

// noise says in which rounds it was not quiet.
func (n *neighbours) noise() (list []string) {
	if !n.known {
		return []string{"while it was measured nobody could tell what others did: /proc says nothing"}
	}
	say := func(what string, shares []float64, limit float64) {
		rounds, most := 0, 0.0
		for _, s := range shares {
			most = max(most, s)
			if s > limit {
				rounds++
			}
		}
		if rounds > 0 {
			list = append(list, fmt.Sprintf("in %d of %d rounds %s, at most %.0f%% of the processors", rounds, len(shares), what, 100*most))
		}
	}
	say("others were busy", n.others, busyOthers)
	say("the hypervisor took a part", n.steal, busySteal)
	return list
}
