package cost

import (
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// Servers is how the servers of a cell treat what they have confirmed.
type Servers string

// The columns of a benchmark.
const (
	// Disk: it is on the disk.
	Disk Servers = "disk"
	// Memory: nobody waits for the disk.
	Memory Servers = "memory"
	// Given: the servers are somebody else's, and treat it as they do.
	Given Servers = "given"
)

// Loop is who says when a client asks next.
type Loop string

// The loops.
const (
	// Closed: it asks again when it is done. A slow lock is asked less.
	Closed Loop = "closed"
	// Open: it asks at the times of a rate. Latencies count from the intended time.
	Open Loop = "open"
)

// Key is what was measured, and how.
type Key struct {
	Algorithm string  `json:"algorithm"`
	Servers   Servers `json:"servers"`
	Loop      Loop    `json:"loop"`
	Clients   int     `json:"clients"`
	Locks     int     `json:"locks"`
}

func (k Key) String() string {
	return fmt.Sprintf("%s, %s, %s loop, %s on %s", k.Algorithm, k.Servers, k.Loop, english.Count(k.Clients, "client"), english.Count(k.Locks, "lock"))
}

// Measure names a figure of a cell.
type Measure string

// The measures. Times are in ns, rates per second, shares from 0 to 1.
const (
	Floor    Measure = "floor"    // the cheapest round trip to the same server
	Writes   Measure = "writes"   // the bare writes that a lock there can't do without
	Cycle    Measure = "cycle"    // acquire and release, uncontended
	Asleep   Measure = "asleep"   // the same, where processors sleep while nobody needs them
	Grants   Measure = "grants"   // of all kinds, per second
	HandOffs Measure = "handoffs" // from one to another, per second
	P50      Measure = "p50"      // of the hand-offs, or of the waits of an open loop
	P99      Measure = "p99"
	Barges   Measure = "barging"  // share of grants to the client that had just given back
	Overlaps Measure = "overlaps" // share of grants while another held it
	Fair     Measure = "fairness" // Jain's index, see [Fairness]
	Longest  Measure = "longest"  // wait
	Requests Measure = "requests" // per grant
	Bytes    Measure = "bytes"    // per grant, both ways
	Packets  Measure = "packets"  // per grant, both ways
	WakeUps  Measure = "wakeups"  // of waiting clients, per grant
	ServerNS Measure = "server-cpu"
	ClientNS Measure = "client-cpu"
	Resident Measure = "server-memory"
	Outage   Measure = "outage" // from a holder's death to the next grant
)

// Units of the measures, in the form that benchstat knows.
var Units = map[Measure]string{
	Floor: "ns", Writes: "ns", Cycle: "ns", Asleep: "ns", Grants: "grants/s", HandOffs: "handoffs/s", P50: "ns", P99: "ns",
	Barges: "share", Overlaps: "share", Fair: "index", Longest: "ns", Requests: "requests/grant", Bytes: "B/grant",
	Packets: "packets/grant", WakeUps: "wakeups/grant", ServerNS: "ns/grant", ClientNS: "ns/grant", Resident: "B", Outage: "ns",
}

// Cell is all that was measured of one key.
type Cell struct {
	Key
	Topology string              `json:"topology"`
	Figures  map[Measure]*Figure `json:"figures,omitempty"`
	// Latency is that of all rounds together: of hand-offs, or of the waits of an open loop.
	Latency []Quantile `json:"latency,omitempty"`
	// Count of what Latency is of.
	Count int `json:"count,omitempty"`
	// Never is after how many deaths of a holder nobody was granted the lock for as long as
	// it was watched.
	Never int `json:"never,omitempty"`
	// Failed says why figures are missing: the first of so many reasons.
	Failed   string `json:"failed,omitempty"`
	Failures int    `json:"failures,omitempty"`
	// Few is in how many rounds there were too few grants for shares and quantiles.
	Few int `json:"few,omitempty"`
	// Waiting is in how many rounds the longest wait was not over when the time was.
	Waiting int `json:"waiting,omitempty"`

	all *Latencies
}

// Add adds the value of a round.
func (c *Cell) Add(round int, m Measure, v float64) {
	if c.Figures == nil {
		c.Figures = map[Measure]*Figure{}
	}
	if c.Figures[m] == nil {
		c.Figures[m] = &Figure{Unit: Units[m]}
	}
	c.Figures[m].Add(round, v)
}

// AddLatencies adds those of a round to those of all.
func (c *Cell) AddLatencies(l *Latencies) {
	if c.all == nil {
		c.all = NewLatencies()
	}
	c.all.Merge(l)
	c.Latency, c.Count = c.all.Quantiles(), c.all.Len()
}

// Forget takes a figure back that says nothing.
func (c *Cell) Forget(all ...Measure) {
	for _, m := range all {
		delete(c.Figures, m)
	}
}

// Fail says why figures of a round are missing; the first reason stays.
func (c *Cell) Fail(why error) {
	if c.Failures++; c.Failures == 1 {
		c.Failed = why.Error()
	}
}

// Plan is a benchmark, decided before it starts.
type Plan struct {
	Made       time.Time `json:"made,omitzero"`
	Algorithms []string  `json:"algorithms"`
	// Groups are the titles above their rows; one without is among the others.
	Groups   map[string]string `json:"groups,omitempty"`
	Baseline string            `json:"baseline"` // what ratios are to
	// Exec is one of them as a program of the user's, nil for none.
	Exec *history.Exec `json:"exec,omitempty"`
	Lab  string        `json:"lab"`
	// Addrs are the servers of somebody else that were borrowed, "" for the lab's own.
	Addrs  string        `json:"addrs,omitempty"`
	Seed   uint64        `json:"seed"`
	Rounds int           `json:"rounds"`
	Budget time.Duration `json:"budget_ns"`
	TTL    time.Duration `json:"ttl_ns"`
	// Programs are those of the algorithms that are programs, each beside its client: their
	// figures contain the way there and back.
	Programs []string `json:"programs,omitempty"`
	// Rate of the open loop in acquisitions per second, 0 for none.
	Rate float64 `json:"rate,omitempty"`
	// Precision is how far, as a share of it, the interval of a figure that decides may reach.
	Precision float64 `json:"precision,omitempty"`
	// Distances are how far away the servers are put after the rounds, each in turn: round trips, in ns.
	Distances []time.Duration `json:"distances,omitempty"`
	// Short leaves out the curves.
	Short    bool              `json:"short,omitempty"`
	Machine  *history.Machine  `json:"machine,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
}

// Cores are the processors that clients and servers had, each their own.
type Cores struct {
	Clients []int `json:"clients,omitempty"`
	Servers []int `json:"servers,omitempty"`
	// Left says why they had none, "" where they had: then the kernel has decided.
	Left string `json:"left,omitempty"`
	// Asleep says why they may have slept, "" where they were kept from it.
	Asleep string `json:"asleep,omitempty"`
}

// Bench is a benchmark: bench.json.
type Bench struct {
	Schema int  `json:"schema"`
	Plan   Plan `json:"plan"`
	// Rounds that were done. A benchmark that was interrupted has fewer than planned. One that had time left
	// has more: those of rows whose figures were not sure yet.
	Rounds int `json:"rounds_done"`
	// Programs are how many of the plan's were measured, in front of the rounds.
	Programs int `json:"programs_done,omitempty"`
	// Cores are where it ran.
	Cores *Cores `json:"cores,omitempty"`
	// Noise says what else the machine did, before, meanwhile and after; none if it was
	// quiet.
	Noise []string `json:"noise,omitempty"`
	// Sync is the time of one write of 4 KiB with fdatasync on the disk that the servers
	// used.
	Sync []Quantile `json:"sync,omitempty"`
	// Cells in the order of the plan.
	Cells []*Cell `json:"cells"`
	// Far are the same locks at each of the plan's distances, the nearest first.
	Far []*Far `json:"far,omitempty"`
}

// Cell of that key, made if it is not there.
func (b *Bench) Cell(k Key, topology string) *Cell {
	if c := b.Find(k); c != nil {
		return c
	}
	c := &Cell{Key: k, Topology: topology}
	b.Cells = append(b.Cells, c)
	return c
}

// Find is the cell of that key, or nil.
func (b *Bench) Find(k Key) *Cell {
	for _, c := range b.Cells {
		if c.Key == k {
			return c
		}
	}
	return nil
}

// Contenders is how many clients want one lock where hand-offs are compared.
const Contenders = 16

// Apart is of how many locks they want one each where it shows whether locks keep each other waiting.
const Apart = 100

// Uncontended and Contended are the keys that every benchmark has.
func Uncontended(algorithm string, s Servers) Key { return Key{algorithm, s, Closed, 1, 1} }
func Contended(algorithm string, s Servers) Key   { return Key{algorithm, s, Closed, Contenders, 1} }

// Figure of a cell, nil if it was not measured.
func (b *Bench) Figure(k Key, m Measure) *Figure {
	if c := b.Find(k); c != nil {
		return c.Figures[m]
	}
	return nil
}

// Blank are the algorithms of which nothing was measured.
func (b *Bench) Blank() (list []string) {
	for _, a := range b.Plan.Algorithms {
		if !slices.ContainsFunc(b.Cells, func(c *Cell) bool { return c.Algorithm == a && len(c.Figures) > 0 }) {
			list = append(list, a)
		}
	}
	return list
}

// Columns are how the servers ran; Main is the one of them in which locks are compared.
func (b *Bench) Columns() []Servers {
	if b.Plan.Addrs != "" {
		return []Servers{Given}
	}
	return []Servers{Disk, Memory}
}

// Main is the first of the columns.
func (b *Bench) Main() Servers { return b.Columns()[0] }

// Served reports whether the algorithm has servers: it then has cells in the main column,
// also where nothing could be measured of them.
func (b *Bench) Served(algorithm string) bool {
	return slices.ContainsFunc(b.Cells, func(c *Cell) bool { return c.Algorithm == algorithm && c.Servers == b.Main() })
}

// Turns are all rounds that were done, and programs that had their turn.
func (b *Bench) Turns() int {
	n := b.Rounds + b.Programs
	for _, f := range b.Far {
		n += f.Rounds
	}
	return n
}

// Done reports whether every planned round was done.
func (b *Bench) Done() bool { return b.Rounds >= b.Plan.Rounds }
