package history

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Schema is the version of what is written as JSON: plans, results and cells.
const Schema = 2

// Plan is one run, decided before it starts: plan.json of a run's directory.
// The same plan and seed give the same schedule of faults.
type Plan struct {
	Schema    int       `json:"schema"`
	Made      time.Time `json:"made,omitzero"`
	Algorithm string    `json:"algorithm"`
	// Exec is the algorithm as a program of the user's, nil for one of the list.
	Exec  *Exec  `json:"exec,omitempty"`
	Fault string `json:"fault"`
	// Brief: the fault is over long before a lease is, though it is one that works by the end of
	// leases or sessions: who asked for so short a one sees nothing of that.
	Brief bool `json:"brief,omitempty"`
	// FaultsAtOnce is how many of a fault that consists of others may be in force at a time,
	// 0 for one.
	FaultsAtOnce int    `json:"faults_at_once,omitempty"`
	Workload     string `json:"workload"`
	// Work is how long the long work takes that some holders do, in leases (2.5ttl) or as a time;
	// [NoWork] for none, and "" for none where the lock or the workload has none.
	Work string `json:"work,omitempty"`
	// Store is the database that keeps the protected store's fenced copy, "" for memory,
	// and Statement what refuses late writes there.
	Store     string `json:"store,omitempty"`
	Statement string `json:"statement,omitempty"`
	Lab       string `json:"lab"`
	Topology  string `json:"topology"`
	// Addrs are the servers of somebody else that were borrowed: HOST:PORT with commas between
	// them, or a file's name; "" for the lab's own.
	Addrs string `json:"addrs,omitempty"`
	// ServerOptions are NAME=VALUE, by the names that the server's documentation has;
	// ServerBinary is SOFTWARE=PATH and ServerImage SOFTWARE=NAME, "" for the servers that
	// lockbench finds itself.
	ServerOptions []string `json:"server_options,omitempty"`
	ServerBinary  string   `json:"server_binary,omitempty"`
	ServerImage   string   `json:"server_image,omitempty"`
	Clients       int      `json:"clients"`
	Processes     int      `json:"processes"`
	// Clocks is [Apart] where each worker's host has a clock of its own, "" where all processes have
	// the machine's.
	Clocks   string        `json:"clocks,omitempty"`
	TTL      time.Duration `json:"ttl_ns"`
	Duration time.Duration `json:"duration_ns"`
	Seed     uint64        `json:"seed"`
	// First ends the run at the first violation that is seen while it goes on.
	First bool `json:"first,omitempty"`
	// About tells people what was run. Nobody judges by it.
	About *About `json:"about,omitempty"`
	// Traits repeat the algorithm's claims, so that a checker needs no list of
	// algorithms.
	Traits lb.Traits `json:"traits"`
	// Evidence are the layers that the workload's verdict rests on, beside those that
	// look for harm.
	Evidence []string `json:"evidence,omitempty"`
	// Guarded: the workload's work is right without the lock, too: two holders at once
	// are no harm.
	Guarded bool `json:"guarded,omitempty"`
	// GivesUp: clients go away before they are granted what they ask for, and a pause
	// behind that is no polling.
	GivesUp bool `json:"gives_up,omitempty"`
	// Expect is what the algorithm declares under this fault, nil where nothing is
	// promised.
	Expect *lb.Expectation `json:"expect,omitempty"`
	// Require is the worst that may come of an algorithm that declares nothing, "" for anything.
	Require lb.Outcome `json:"require,omitempty"`
	// Order is the order of moves that the run went, of an exploration; nil of any other. One
	// order need not show enough by itself.
	Order json.RawMessage `json:"order,omitempty"`
	// Jobs is how many runs the machine did at a time, 0 where that is not known.
	Jobs int `json:"jobs,omitempty"`
	// Machine is where it ran, and Versions what ran there, by name: lockbench, Go, the
	// server, and the libraries that locks are made of.
	Machine  *Machine          `json:"machine,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
}

// What a plan's Clocks are: one for all processes of the machine, which a plan need not say, or apart, where each
// worker's host has one of its own.
const (
	OneClock = "one"
	Apart    = "apart"
)

// NoWork is the Work of a plan without long work, of a lock that would bear it.
const NoWork = "none"

// Prefix is what names of locks begin with: on servers of somebody else they are told from
// what others have there.
func (p Plan) Prefix() string {
	if p.Addrs == "" {
		return ""
	}
	return lb.Prefix + ":"
}

// Exec is a lock that is a program of the user's, see docs/protocol.md.
type Exec struct {
	// Name is what it calls itself: the plan's algorithm.
	Name string `json:"name"`
	// Command is what a shell starts, in the directory Dir.
	Command string `json:"command"`
	Dir     string `json:"dir"`
	// Digest is that of the command's own file, where it is one: an edited program is another.
	Digest string `json:"digest,omitempty"`
	// Described is what the program has said of itself.
	Described json.RawMessage `json:"described"`
}

// About is what a reader of a run must be told of its algorithm and its fault, so that a
// page needs no list of either.
type About struct {
	// Program is the name of the program that has them, "lockbench" or somebody's own.
	Program string `json:"program,omitempty"`
	// Algorithm and Fault say in one line what they do.
	Algorithm string `json:"algorithm,omitempty"`
	Fault     string `json:"fault,omitempty"`
	// Family is what the fault strikes, and Troubles are those that it makes.
	Family   Family    `json:"family,omitempty"`
	Troubles []Trouble `json:"troubles,omitempty"`
	// Group is the title above the algorithm's row, "" for one that is among the others.
	Group string `json:"group,omitempty"`
	// Source names the page, paper or library that defines the algorithm.
	Source string `json:"source,omitempty"`
	// Requests are what it sends, in the order of its protocol, and Takes is the one whose
	// answer makes a client the holder.
	Requests []string `json:"requests,omitempty"`
	Takes    string   `json:"takes,omitempty"`
	// Story tells the order that the run went, a line a move, of an exploration; Wrong is what
	// goes wrong in it, such as "1 crash" or "no fault".
	Story []string `json:"story,omitempty"`
	Wrong string   `json:"wrong,omitempty"`
}

// Family is what a fault strikes.
type Family string

// The families.
const (
	Nothing Family = "nothing"
	Clients Family = "clients"
	Network Family = "network"
	Clocks  Family = "clocks"
	Servers Family = "servers"
	Several Family = "several" // one fault after the other
)

// Families are all of them.
func Families() []Family { return []Family{Nothing, Clients, Network, Clocks, Servers, Several} }

// Trouble is a kind of what goes wrong sooner or later wherever locks are used. Who chooses a
// lock wants to have seen it in each.
type Trouble string

// The troubles.
const (
	Freeze    Trouble = "freeze"    // a client stands still, and goes on later
	Death     Trouble = "death"     // a client dies
	Partition Trouble = "partition" // some can't reach others
	WrongTime Trouble = "clock"     // a clock jumps, or runs too fast or too slow
	Failover  Trouble = "failover"  // a server of the lock service ends, or another takes its place
)

// Troubles are all of them, the worst for most locks first.
func Troubles() []Trouble { return []Trouble{Failover, Freeze, WrongTime, Partition, Death} }

// Machine is where a run was done.
type Machine struct {
	System string `json:"system"` // such as linux/amd64
	Kernel string `json:"kernel,omitempty"`
	Cores  int    `json:"cores"`
	// Load is the average number of busy tasks over the minute before the run; 0 also where it is not known, as where Kernel is not.
	Load float64 `json:"load"`
}

// Proof is the measured proof that a fault took effect. A run whose fault did not
// proves nothing.
type Proof struct {
	Proven bool `json:"proven"`
	// Measured is the measurement in words, with units.
	Measured string `json:"measured"`
}

// String tells programs apart: by their command, their file and what they say of themselves.
func (e *Exec) String() string {
	if e == nil {
		return ""
	}
	var described bytes.Buffer
	_ = json.Compact(&described, e.Described) // a file has it with other white space
	said := sha256.Sum256(described.Bytes())
	return fmt.Sprintf("%s in %s (%.8s-%x)", e.Command, e.Dir, cmp.Or(e.Digest, "?"), said[:4])
}
