package explore

import (
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Plan says what is explored, and where.
type Plan struct {
	rundir.ExploredLock
	Lab    string `json:"lab"`
	Bounds Bounds `json:"bounds"`
	// Workload is what clients do, one of [Workloads]; "" for the first.
	Workload string `json:"workload,omitempty"`
	// Budget is how many orders are performed at most.
	Budget int    `json:"budget"`
	Seed   uint64 `json:"seed"`
	// Until are outcomes of which the first ends the walk; violations are told as they were found then.
	Until []lb.Outcome `json:"until,omitempty"`
	// Unpruned walks orders that others stand for, too, to prove that they do; for tests.
	Unpruned Unpruned `json:"unpruned,omitempty"`
	// Ways has the result tell in which ways orders ended, and not only how many.
	Ways bool `json:"ways,omitempty"`
	// Replay is one order to perform, Times over, and nothing else.
	Replay *Schedule `json:"replay,omitempty"`
	Times  int       `json:"times,omitempty"`
}

// Unpruned says which orders that others stand for are walked all the same.
type Unpruned int

const (
	pruned        Unpruned = iota
	EveryMoment            // from which others went on that came to the same
	EverySequence          // of moves that have nothing to do with each other, too
	EveryCall              // and calls at any time before what they lead to
)

// Told is what an exploration tells of while it goes on: one of these.
type Told struct {
	At     *Progress `json:"at,omitempty"`
	Result *Result   `json:"result,omitempty"`
}

// Progress is how far it has come.
type Progress struct {
	Faults int     `json:"faults"`
	Orders int     `json:"orders"`
	Share  float64 `json:"share"`
	Broken int     `json:"broken"`
	// Left is about how long this number of faults may still take, in seconds; 0 where nobody can say.
	Left float64 `json:"left,omitempty"`
}
