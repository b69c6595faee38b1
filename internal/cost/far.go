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
	// Noise says what else the machine did meanwhile, and Failed why rounds are missing.
	Noise  []string `json:"noise,omitempty"`
	Failed string   `json:"failed,omitempty"`
}

// FarRounds is how often every lock has its turn at each distance: a way takes the same time again and again.
const FarRounds = 3

// Bench is the benchmark of that distance alone, of those that b has.
func (f *Far) Bench(b *Bench) *Bench {
	return &Bench{Plan: b.Plan, Rounds: f.Rounds, Cells: f.Cells}
}
