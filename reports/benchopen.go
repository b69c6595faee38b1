package reports

import (
	"fmt"
	"strconv"

	"github.com/lockbench/lockbench/internal/cost"
)

// openTable is of the open loop: what clients wait for who come at a rate, and not when
// the lock has time for them.
func openTable(b *cost.Bench) benchTable {
	open := func(lock string, s cost.Servers) cost.Key {
		return cost.Key{Algorithm: lock, Servers: s, Loop: cost.Open, Clients: cost.Contenders, Locks: 1}
	}
	f := figureOf(func(lock string, s cost.Servers, m cost.Measure) *cost.Figure { return b.Figure(open(lock, s), m) })
	columns := func(s cost.Servers) []benchColumn {
		return []benchColumn{
			f.column(string(s)+"/s", "grants per second: fewer than the rate where the lock does not keep up", 10, s, cost.Grants, number3),
			f.column("median", "wait since the intended time", 9, s, cost.P50, duration),
			f.column("99%", "wait since the intended time", 9, s, cost.P99, duration),
			{"longest", "wait since the intended time, of all rounds, also in vain", 9, func(lock string) string {
				if c := b.Find(open(lock, s)); c != nil && len(c.Latency) > 0 {
					return span(ms(cost.At(c.Latency, 1)))
				}
				return absent
			}},
		}
	}
	var all []benchColumn
	for _, s := range b.Columns() {
		all = append(all, columns(s)...)
	}
	return benchTable{
		fmt.Sprintf("At a rate of %s/s: how long they wait since they were to ask", strconv.FormatFloat(b.Plan.Rate, 'f', -1, 64)),
		fmt.Sprintf("%d clients together ask for one lock at random times of that rate, whether it keeps up or not. A wait begins at the intended time, not when the client was free to ask; what was still due at the end has waited until then.", cost.Contenders),
		all,
		true, nil,
	}
}
