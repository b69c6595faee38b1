// Package worker is the process that clients live in. It drives itself, stamps
// and records what its clients do, and obeys a few instructions: start, stop, and
// catch a client at a step.
//
// It is a real process so that a pause is a pause: SIGSTOP freezes the critical
// section, the renewals and the local timers at once, as a stop-the-world
// collection or a suspended virtual machine would.
package worker

import (
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
)

// Config is the first line that a worker reads from its standard input.
type Config struct {
	Name    string       `json:"name"` // of the process
	Number  int          `json:"number"`
	Plan    history.Plan `json:"plan"`
	Clients int          `json:"clients"` // of this process
	// Ahead is how far its wall clock is ahead of the machine's from the beginning.
	Ahead time.Duration `json:"ahead_ns,omitempty"`
	// OwnClock: the clock that it stamps with is not the runner's, and runs fast by the share Drift, of which
	// nothing else in the process knows.
	OwnClock bool    `json:"own_clock,omitempty"`
	Drift    float64 `json:"drift,omitempty"`
	// Identity is the name that its clients have for the locks, "" for its own: that of a
	// process before it, of which it is another life.
	Identity string   `json:"identity,omitempty"`
	Servers  []string `json:"servers"`
	// SharedSession: its clients use one session.
	SharedSession bool `json:"shared_session,omitempty"`
	// Sentinels know which of the servers leads, by the name Master; none for most topologies.
	Sentinels []string `json:"sentinels,omitempty"`
	Master    string   `json:"master,omitempty"`
	Store     string   `json:"store"`
	Events    string   `json:"events"` // the file to record to
}

// Reports is the descriptor that a worker writes its reports to. It is not standard
// output, where a lock's library may print what it likes.
const Reports = 3

// Instruction is each later line of standard input. Its number is that of what it is
// about: the reports on it carry the same.
type Instruction struct {
	N    uint64      `json:"n"`
	Do   string      `json:"do"`
	Step string      `json:"step,omitempty"`
	How  faults.Stop `json:"how,omitempty"`
	// All clients that come to Step are caught but this one, not only the first.
	AllBut string `json:"all_but,omitempty"`
	// Only this client is caught, if it is named.
	Only string `json:"only,omitempty"`
	// All clients, so many, are delayed at Step until the last has come, who springs it.
	All int `json:"all,omitempty"`
	// Ahead and Rate are for the clock.
	Ahead time.Duration `json:"ahead_ns,omitempty"`
	Rate  float64       `json:"rate,omitempty"`
}

// AnyStep is whichever step a client comes to.
const AnyStep = "*"

// Notice is a way to catch a client that does not stop it: it only says who passes.
const Notice faults.Stop = "notice"

// The instructions.
const (
	DoStart = "start"
	DoCatch = "catch"  // the next client that passes Step, in the way How
	DoLetGo = "let-go" // of whom the instruction of this number has caught, and catch nobody more
	DoClock = "clock"  // move the clocks of the process
	DoAhead = "ahead"  // say how far they are ahead
	DoTime  = "time"   // say what time it is
	DoTell  = "tell"   // say what the clients are at
	DoCount = "count"  // say how many sections were done
	DoRest  = "rest"   // finish the sections in hand and begin no other; then count
	DoAgain = "again"  // the client Only, who stands at its release, gives the same back again when it is let go
	DoStop  = "stop"   // finish the sections in hand and end
)

// Report is each line that a worker writes.
type Report struct {
	N   uint64 `json:"n"` // of the instruction that it answers
	Say string `json:"say"`
	// At is by the clock that the worker stamps with, and so is Came, when the instruction came.
	At     lb.Instant `json:"t,omitempty"`
	Came   lb.Instant `json:"came,omitempty"`
	Client string     `json:"client,omitempty"`
	ID     string     `json:"id,omitempty"`
	Lock   string     `json:"lock,omitempty"`
	// Result is what a release that was called again has answered.
	Result string `json:"result,omitempty"`
	// Idle is how long the process or the client was stopped.
	Idle time.Duration `json:"idle_ns,omitempty"`
	// Ahead is how far the wall clock is ahead of the machine's.
	Ahead    time.Duration `json:"ahead_ns,omitempty"`
	Sections int           `json:"sections,omitempty"`
	// Goroutines are those of the process, 0 where the lock is a program: then they are the bench's own,
	// and Threads and Files are those of its programs.
	Goroutines int `json:"goroutines,omitempty"`
	Threads    int `json:"threads,omitempty"`
	Files      int `json:"files,omitempty"`
	// Programs are the processes of the lock's programs, of a worker that is about to die.
	Programs []int    `json:"programs,omitempty"`
	Clients  []Client `json:"clients,omitempty"`
	Error    string   `json:"error,omitempty"`
}

// Client is what one client is at.
type Client struct {
	Name string `json:"name"`
	// Asks is the acquisition that it waits for, "" if it waits for none.
	Asks string `json:"asks,omitempty"`
	// Sessions that it has told of, the newest last.
	Sessions []string `json:"sessions,omitempty"`
}

// The reports.
const (
	SayReady  = "ready"  // all sessions are open
	SayCaught = "caught" // Client is stopped since At, about to be frozen, or about to die
	SayOn     = "on"     // the client went on after Idle
	SayFree   = "free"   // the instruction's trap is taken back
	SayClock  = "clock"  // the process's clock is now Ahead
	SayTime   = "time"   // it is At
	SayCount  = "count"
	SayTold   = "told"   // what Clients are at
	SayAgain  = "again"  // the client has called the release again, and Result was the answer
	SayDone   = "done"   // all clients have ended
	SayFailed = "failed" // Error ends the worker, or the instruction N
	SayWrong  = "wrong"  // Error is what the lock's program did that no lock can mean
)
