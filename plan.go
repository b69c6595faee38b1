package lockbench

import "time"

// Plan is one run, decided before it starts: plan.json of a run's directory.
// The same plan and seed give the same schedule of faults.
type Plan struct {
	Schema    int           `json:"schema"`
	Made      time.Time     `json:"made,omitzero"`
	Algorithm string        `json:"algorithm"`
	Fault     string        `json:"fault"`
	Workload  string        `json:"workload"`
	Lab       string        `json:"lab"`
	Topology  string        `json:"topology"`
	Clients   int           `json:"clients"`
	Processes int           `json:"processes"`
	TTL       time.Duration `json:"ttl_ns"`
	Duration  time.Duration `json:"duration_ns"`
	Seed      uint64        `json:"seed"`
	// First ends the run at the first violation that is seen while it goes on.
	First bool `json:"first,omitempty"`
	// Fenced, Leased and Reentrant repeat the algorithm's traits, so that a checker
	// needs no list of algorithms.
	Fenced    bool `json:"fenced"`
	Leased    bool `json:"leased"`
	Reentrant bool `json:"reentrant,omitempty"`
}
