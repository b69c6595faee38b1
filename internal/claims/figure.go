package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/internal/cost"
)

// key is the cell of a benchmark that has the figure.
func (c condition) key() cost.Key {
	clients := cost.Contenders
	if slices.Contains([]cost.Measure{cost.Cycle, cost.Floor, cost.Writes, cost.Outage}, c.Figure) {
		clients = 1
	}
	return cost.Key{Algorithm: c.Lock, Servers: cmp.Or(c.Servers, cost.Disk), Loop: cost.Closed,
		Clients: cmp.Or(c.Clients, clients), Locks: cmp.Or(c.Locks, 1)}
}

// to is the cell that the ratio is to.
func (c condition) to() cost.Key {
	k, o := c.key(), c.Over
	return cost.Key{Algorithm: cmp.Or(o.Lock, k.Algorithm), Servers: cmp.Or(o.Servers, k.Servers), Loop: k.Loop,
		Clients: cmp.Or(o.Clients, k.Clients), Locks: cmp.Or(o.Locks, k.Locks)}
}

// onFigure is what a benchmark says, and whether the machine did something else meanwhile.
func (c condition) onFigure(f *facts) (truth, string) {
	t, says := c.measured(f)
	if len(f.Noise) > 0 {
		says += " (on a machine that was not quiet)"
	}
	return t, says
}

func (c condition) measured(f *facts) (truth, string) {
	k := c.key()
	x := f.cost(k)
	if x == nil {
		return unknown, fmt.Sprintf("%s of %s is missing", c.Figure, c.Lock)
	}
	if c.Figure == cost.Outage && x.Never > 0 {
		// Longer than it was watched, which is longer than any bound that makes sense.
		return told(c.Below == ""), fmt.Sprintf("%s: after %d of its holders' deaths nobody was granted it while it was watched", c.Lock, x.Never)
	}
	fig := x.Figures[c.Figure]
	if fig == nil || len(fig.Values) == 0 {
		return unknown, fmt.Sprintf("%s of %s was not measured", c.Figure, c.Lock)
	}
	if c.Over == nil {
		return c.bounded(fig.Low, fig.High), fmt.Sprintf("%s, %s%s: %s", c.Lock, names[c.Figure], at(k), spread(fig.Summary, fig.Unit))
	}
	to := f.cost(c.to())
	if to == nil || to.Figures[c.Figure] == nil {
		return unknown, fmt.Sprintf("%s of %s was not measured", c.Figure, c.to())
	}
	base := to.Figures[c.Figure]
	r := cost.Ratio(fig, base)
	if len(r.Values) == 0 {
		return unknown, fmt.Sprintf("%s: no round has both", c.Figure)
	}
	return c.bounded(r.Low, r.High), fmt.Sprintf("%s, %s: %s%s against %s%s: %s times as much", names[c.Figure], c.Lock,
		shown(fig.Median, fig.Unit), at(k), shown(base.Median, fig.Unit), c.against(), spread(r.Summary, ""))
}

// against names what the ratio is to by what differs.
func (c condition) against() (s string) {
	k, to := c.key(), c.to()
	if to.Algorithm != k.Algorithm {
		s += " of " + to.Algorithm
	}
	if to.Servers != k.Servers {
		s += fmt.Sprintf(" in %s", to.Servers)
	}
	if to.Clients != k.Clients {
		s += fmt.Sprintf(" with %d clients", to.Clients)
	}
	if to.Locks != k.Locks {
		s += fmt.Sprintf(" on %d locks", to.Locks)
	}
	return s
}

// at is how it was measured, where that is not as usual.
func at(k cost.Key) (s string) {
	if k.Servers != cost.Disk {
		s += fmt.Sprintf(" in %s", k.Servers)
	}
	if k.Clients != cost.Contenders && k.Clients != 1 {
		s += fmt.Sprintf(" with %d clients", k.Clients)
	}
	if k.Locks != 1 {
		s += fmt.Sprintf(" on %d locks", k.Locks)
	}
	return s
}

// names are the figures in words.
var names = map[cost.Measure]string{
	cost.Cycle: "acquire and release, uncontended", cost.HandOffs: "hand-offs", cost.Grants: "grants", cost.Requests: "requests",
	cost.WakeUps: "wake-ups of waiting clients", cost.Fair: "fairness", cost.Barges: "share of grants by barging", cost.Outage: "from a holder's death to the next grant",
	cost.P50: "median hand-off", cost.P99: "hand-off, 99%", cost.Longest: "longest wait", cost.Packets: "packets", cost.Bytes: "bytes",
	cost.Floor: "cheapest round trip", cost.Writes: "bare writes", cost.Overlaps: "share of grants while another held it",
	cost.ServerNS: "servers' processor time", cost.ClientNS: "clients' processor time", cost.Resident: "servers' memory",
}

// spread is a median with its interval.
func spread(s cost.Summary, unit string) string {
	if s.Low == s.High {
		return shown(s.Median, unit)
	}
	return fmt.Sprintf("%s (%s to %s)", shown(s.Median, unit), shown(s.Low, unit), shown(s.High, unit))
}

// shown is a value to three digits, with its unit.
func shown(v float64, unit string) string {
	switch unit {
	case "ns", "ns/grant":
		d := time.Duration(v)
		for _, u := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
			if d >= u {
				return digits(v/float64(u)) + map[time.Duration]string{time.Second: " s", time.Millisecond: " ms", time.Microsecond: " µs"}[u]
			}
		}
		return digits(v) + " ns"
	case "handoffs/s", "grants/s":
		return digits(v) + "/s"
	case "requests/grant", "wakeups/grant", "packets/grant":
		return digits(v) + " a grant"
	}
	return digits(v)
}

// digits is a number to three digits, and no exponent.
func digits(v float64) string {
	s, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return strconv.FormatFloat(s, 'f', -1, 64)
}
