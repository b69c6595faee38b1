// Package worker is the process that clients live in. It drives itself, stamps
// and records what its clients do, and obeys a few orders: start, stop, and
// catch a client at a step.
//
// It is a real process so that a pause is a pause: SIGSTOP freezes the critical
// section, the renewals and the local timers at once, as a stop-the-world
// collection or a suspended virtual machine would.
package worker

import (
	"time"

	lb "github.com/lockbench/lockbench"
)

// Config is the first line that a worker reads from its standard input.
type Config struct {
	Name    string   `json:"name"` // of the process: "w1"
	Plan    lb.Plan  `json:"plan"`
	Clients int      `json:"clients"` // of this process
	Servers []string `json:"servers"`
	// Sentinels know which of the servers leads; none for most topologies.
	Sentinels []string `json:"sentinels,omitempty"`
	Store     string   `json:"store"`
	Events    string   `json:"events"` // the file to record to
}

// Order is each later line of standard input.
type Order struct {
	Do   string  `json:"do"`
	Step string  `json:"step,omitempty"`
	How  lb.Grip `json:"how,omitempty"`
	// Jump and Rate are for the clock.
	Jump time.Duration `json:"jump_ns,omitempty"`
	Rate float64       `json:"rate,omitempty"`
}

// Notice is a grip that does not stop the client: it only says who passes.
const Notice lb.Grip = "notice"

// The orders.
const (
	DoStart   = "start"
	DoCatch   = "catch"   // the next client that passes Step, in the way How
	DoUncatch = "uncatch" // forget the trap
	DoLetGo   = "let-go"  // of the client that is on hold
	DoClock   = "clock"   // let the host's clock jump by Jump and run fast by Rate
	DoStop    = "stop"    // finish the sections in hand and end
)

// Report is each line that a worker writes to its standard output.
type Report struct {
	Say    string `json:"say"`
	Client string `json:"client,omitempty"`
	ID     string `json:"id,omitempty"`
	// Idle is how long the process or the client was stopped.
	Idle time.Duration `json:"idle_ns,omitempty"`
	// Ahead is how far the host's clock is ahead of the machine's.
	Ahead time.Duration `json:"ahead_ns,omitempty"`
	Error string        `json:"error,omitempty"`
}

// The reports.
const (
	SayReady  = "ready"  // all sessions are open
	SayCaught = "caught" // Client is stopped, about to be frozen, or about to die
	SaySilent = "silent" // the process did not run for Idle
	SayClock  = "clock"  // the host's clock is now Ahead
	SayHeld   = "held"   // the client went on after Idle
	SayDone   = "done"   // all clients have ended
	SayFailed = "failed" // Error ends the worker
)
