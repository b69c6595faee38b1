package cost

import "time"

// Far is what locks cost where their servers are far away: the clients from each server, and one server from
// another. Its cells are in the column [Memory]: beside the way a disk counts little, and differs from one
// machine to the next.
type Far struct {
	// RoundTrip there and back, at least; 0 is as near as the hosts of a lab are.
	RoundTrip time.Duration `json:"round_trip_ns"`
	Rounds    int           `json:"rounds_done"`
	Cells     []*Cell       `json:"cells"`
}

// Bench is the benchmark of that distance alone, of those that b has.
func (f *Far) Bench(b *Bench) *Bench {
	return &Bench{Plan: b.Plan, Rounds: f.Rounds, Cells: f.Cells}
}
