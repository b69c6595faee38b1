package reports

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/english"
)

// benchTable is one table of a benchmark: a row for each lock.
type benchTable struct {
	Title, Intro string
	Columns      []benchColumn
	Brief        bool     // it stands in a summary, too
	Told         []string // what a reader takes home
}

// benchColumn is what it shows of a lock.
type benchColumn struct {
	Head  string
	Doc   string // on the page
	width int    // on a terminal, 0 where it is left out
	show  func(lock string) string
}

// figureOf finds a figure in one of the two columns of a benchmark.
type figureOf func(lock string, s cost.Servers, m cost.Measure) *cost.Figure

// the figure as a column.
func (f figureOf) column(head, doc string, width int, s cost.Servers, m cost.Measure, show func(*cost.Figure) string) benchColumn {
	return benchColumn{head, doc, width, func(lock string) string { return show(f(lock, s, m)) }}
}

// benchTables are those of a benchmark, in the order of the questions.
func benchTables(b *cost.Bench) []benchTable {
	alone := figureOf(func(lock string, s cost.Servers, m cost.Measure) *cost.Figure {
		return b.Figure(cost.Uncontended(lock, s), m)
	})
	crowd := figureOf(func(lock string, s cost.Servers, m cost.Measure) *cost.Figure {
		return b.Figure(cost.Contended(lock, s), m)
	})
	tables := []benchTable{aloneTable(b, alone), crowdTable(b, crowd), needsTable(b, alone, crowd)}
	if slices.ContainsFunc(b.Cells, func(c *cost.Cell) bool { return c.Loop == cost.Open }) {
		tables = append(tables, openTable(b))
	}
	if all := distances(b); len(all) > 1 {
		tables = append(tables, farTable(b, all))
	}
	return tables
}

func aloneTable(b *cost.Bench, f figureOf) benchTable {
	columns := func(s cost.Servers) []benchColumn {
		of := func(m cost.Measure) func(string) string {
			return func(lock string) string { return times(f(lock, s, cost.Cycle), f(lock, s, m)) }
		}
		return []benchColumn{
			f.column(string(s), "acquire and release, the median of the rounds", 10, s, cost.Cycle, duration),
			f.column("±", "how far its interval reaches", 5, s, cost.Cycle, margin),
			{"floors", "as a multiple of the cheapest round trip to the same server", 8, of(cost.Floor)},
			{"writes", "as a multiple of the bare writes that a lock there can't do without", 8, of(cost.Writes)},
		}
	}
	base := benchColumn{"×base", "as a multiple of " + b.Plan.Baseline, 8, func(lock string) string {
		return toBase(b, lock, f, cost.Cycle)
	}}
	intro := ""
	if b.Main() == cost.Given {
		intro = "The servers are those at " + b.Plan.Addrs + ". What is sent to them passes a relay of lockbench’s on this machine, which every time here contains, the cheapest round trip’s too."
	}
	all := append(columns(b.Main()), base)
	for _, s := range b.Columns()[1:] {
		all = append(all, columns(s)...)
	}
	return benchTable{"Acquire and release, when nobody else wants it", intro, all, true, nil}
}

func crowdTable(b *cost.Bench, f figureOf) benchTable {
	t := benchTable{
		fmt.Sprintf("%d clients want it: how fast it goes from one to another", cost.Contenders),
		"A hand-off is from the call of a release to the grant to another client, which held nothing in between. A client that re-acquires the lock right after releasing it, while others wait, is barging: unfair, and no hand-off.",
		[]benchColumn{
			f.column(string(b.Main())+"/s", "hand-offs per second", 8, b.Main(), cost.HandOffs, number3),
			f.column("±", "how far its interval reaches", 5, b.Main(), cost.HandOffs, margin),
			{"×base", "as a multiple of " + b.Plan.Baseline, 8, func(lock string) string {
				return toBase(b, lock, f, cost.HandOffs)
			}},
			f.column("median", "of a hand-off's time", 9, b.Main(), cost.P50, duration),
			f.column("99%", "of a hand-off's time", 0, b.Main(), cost.P99, duration),
			{"longest", "wait of a client, also in vain; ≥ where it was not over at the end of half of the turns", 11, func(lock string) string {
				return longest(b.Find(cost.Contended(lock, b.Main())))
			}},
			f.column("barging", "share of all grants", 9, b.Main(), cost.Barges, percent),
			f.column("fair", "Jain’s index of each client’s grants: 1 is even", 6, b.Main(), cost.Fair, number3),
			{"apart", fmt.Sprintf("grants a second to the same clients where each asks for one of %d locks, as a multiple of those where all want one: about 1 where locks keep each other waiting", cost.Apart), 7, func(lock string) string {
				one := cost.Contended(lock, b.Main())
				many := one
				many.Locks = cost.Apart
				return times(b.Figure(many, cost.Grants), b.Figure(one, cost.Grants))
			}},
			f.column("overlaps", "share of grants while another held it: no lock", 0, b.Main(), cost.Overlaps, percent),
		},
		true, nil,
	}
	for _, s := range b.Columns()[1:] {
		t.Columns = append(t.Columns,
			f.column(string(s)+"/s", "hand-offs per second without waiting for the disk", 10, s, cost.HandOffs, number3),
			f.column("±", "how far its interval reaches", 5, s, cost.HandOffs, margin))
	}
	return t
}

func needsTable(b *cost.Bench, alone, crowd figureOf) benchTable {
	either := func(f figureOf) figureOf { // a lock without servers has only one column
		return func(lock string, _ cost.Servers, m cost.Measure) *cost.Figure {
			return f(lock, comparable(b, lock), m)
		}
	}
	alone, crowd = either(alone), either(crowd)
	outage := benchColumn{"outage", "from the death of a holder to the next grant; never: not for as long as it was watched", 18, func(lock string) string {
		never := 0
		for _, s := range b.Columns() {
			if c := b.Find(cost.Uncontended(lock, s)); c != nil {
				never += c.Never
			}
		}
		return outageOf(alone(lock, b.Main(), cost.Outage), never)
	}}
	return benchTable{
		fmt.Sprintf("What a grant needs, with %d clients, and how long a dead holder keeps it (TTL %v)", cost.Contenders, b.Plan.TTL),
		"Requests are those of the lock’s own protocol, waiters’ included; bytes and packets are all that passed between clients and servers, both ways.",
		[]benchColumn{
			alone.column("alone", "requests when nobody else wants it", 7, b.Main(), cost.Requests, number3),
			crowd.column("requests", "per grant", 9, b.Main(), cost.Requests, number3),
			crowd.column("wakes", "of waiting clients, per grant", 6, b.Main(), cost.WakeUps, number3),
			crowd.column("packets", "per grant", 8, b.Main(), cost.Packets, number3),
			crowd.column("bytes", "per grant", 8, b.Main(), cost.Bytes, inBytes),
			crowd.column("servers", "processor time of the servers per grant", 8, b.Main(), cost.ServerNS, duration),
			crowd.column("clients", "processor time of the clients per grant", 8, b.Main(), cost.ClientNS, duration),
			crowd.column("memory", "of the servers", 8, b.Main(), cost.Resident, inBytes),
			outage,
		},
		false, nil,
	}
}

// absent stands where nothing was measured.
const absent = "-"

func duration(f *cost.Figure) string {
	if f == nil {
		return absent
	}
	return span(f.Median / 1e6)
}

// outageOf is the median of the outages that ended, and how many of all did not.
func outageOf(f *cost.Figure, never int) string {
	switch {
	case never == 0:
		return duration(f)
	case f == nil:
		return "never"
	}
	return fmt.Sprintf("%s, %d/%d never", duration(f), never, never+len(f.Values))
}

// longest is the longest wait of a cell, which may have been longer where it was not over.
func longest(c *cost.Cell) string {
	if c == nil || c.Figures[cost.Longest] == nil {
		return absent
	}
	f := c.Figures[cost.Longest]
	if 2*c.Waiting >= len(f.Values) {
		return "≥ " + duration(f)
	}
	return duration(f)
}

// toBase is a figure as a multiple of the baseline's, where both had their turns in the same rounds.
func toBase(b *cost.Bench, lock string, f figureOf, m cost.Measure) string {
	if lock != b.Plan.Baseline && (slices.Contains(b.Plan.Programs, lock) || slices.Contains(b.Plan.Programs, b.Plan.Baseline)) {
		return absent
	}
	return times(f(lock, b.Main(), m), f(b.Plan.Baseline, b.Main(), m))
}

// times is one figure as a multiple of another.
func times(of, to *cost.Figure) string {
	r := cost.Ratio(of, to)
	if len(r.Values) == 0 {
		return absent
	}
	return number3(&r)
}

func percent(f *cost.Figure) string {
	if f == nil {
		return absent
	}
	return fmt.Sprintf("%.0f%%", 100*f.Median)
}

// inBytes is a size in a unit that suits it.
func inBytes(f *cost.Figure) string {
	switch {
	case f == nil:
		return absent
	case f.Median >= 1e6:
		return digits(f.Median/1e6) + " MB"
	case f.Median >= 1e3:
		return digits(f.Median/1e3) + " kB"
	}
	return digits(f.Median) + " B"
}

// margin is how far the interval reaches from the median, in percent of it; with a mark
// where there were too few rounds for one, and only the mark where there was but one.
func margin(f *cost.Figure) string {
	switch {
	case f == nil || f.Median == 0:
		return ""
	case len(f.Values) < 2:
		return " ?"
	}
	far := 100 * math.Max(f.High-f.Median, f.Median-f.Low) / f.Median
	mark := ""
	if f.Confidence == 0 {
		mark = "?"
	}
	return fmt.Sprintf(" %.0f%%%s", min(far, 999), mark)
}

// number3 has three digits.
func number3(f *cost.Figure) string {
	switch {
	case f == nil:
		return absent
	case f.Median >= 100:
		return fmt.Sprintf("%.0f", f.Median)
	case f.Median >= 10:
		return fmt.Sprintf("%.1f", f.Median)
	}
	return fmt.Sprintf("%.2f", f.Median)
}

// benchFailure is a reason for which figures of a lock are missing.
type benchFailure struct{ Lock, Why, Where string }

func benchFailures(b *cost.Bench) (list []benchFailure) {
	list = failuresOf(b, "")
	for _, d := range distances(b) {
		list = append(list, failuresOf(d.Bench, " by distance, "+d.name)...)
	}
	return list
}

// failuresOf are those of a benchmark that was measured at this place. A cell keeps the first of its reasons only.
func failuresOf(b *cost.Bench, at string) (list []benchFailure) {
	type key struct{ lock, why string }
	times, order := map[key]int{}, []key{}
	for _, c := range b.Cells {
		k := key{c.Algorithm, c.Failed}
		if c.Failed != "" && times[k] == 0 {
			order = append(order, k)
		}
		times[k] += c.Failures
	}
	for _, k := range order {
		where := english.Count(times[k], "time") + at
		if times[k] > 1 {
			where += ", the first"
		}
		list = append(list, benchFailure{k.lock, k.why, where})
	}
	return list
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
