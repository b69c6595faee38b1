package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// The files of an exploration.
const (
	exploredFile = "explored.json"
	// ExploredDir holds the explorations of several locks, or those that belong to a matrix.
	ExploredDir = "explored"
	// ScheduleFile is one order, to be performed again.
	ScheduleFile = "schedule.json"

	violationsDir = "violations"
)

// Explored is what a reader of explored.json needs to know of what was walked, and of what broke
// the lock.
type Explored struct {
	Dir    string `json:"-"`
	Schema int    `json:"schema"`
	Plan   struct {
		Algorithm string        `json:"algorithm"`
		Exec      *history.Exec `json:"exec"`
		Topology  string        `json:"topology"`
		Reuse     bool          `json:"reuse"`
	} `json:"plan"`
	// Within are the bounds in words.
	Within  string          `json:"within"`
	Seconds float64         `json:"seconds"`
	Levels  []ExploredLevel `json:"levels"`
	Classes []ExploredClass `json:"classes"`
	// Never are the moves that the bounds allow, and that came up in none of these orders.
	Never []string `json:"never"`
	// Timeless says why no lease could end.
	Timeless string `json:"timeless"`
	// Interrupted: somebody ended it. GivenUp: so many orders in a row did not go as planned.
	Interrupted bool   `json:"interrupted"`
	GivenUp     string `json:"given_up"`
	// Ways are in how many ways the orders ended.
	Ways       int                `json:"ways"`
	Digest     string             `json:"digest"`
	Replays    map[lb.Outcome]int `json:"replays"`
	Doubts     []string           `json:"doubts"`
	Violations []ExploredOrder    `json:"violations"`
}

// ExploredLevel are the orders with so many faults.
type ExploredLevel struct {
	Faults  int     `json:"faults"`
	Orders  int     `json:"orders"`
	Share   float64 `json:"share"`
	Broken  int     `json:"broken"`
	Sampled int     `json:"sampled"`
	// Drawn are the sampled, and those of which nothing is told because they were known or had fewer faults;
	// Shown is how likely it is at least that they have shown something, by how many moves that takes which come each
	// before a certain other.
	Drawn  int             `json:"drawn"`
	Shown  map[int]float64 `json:"shown"`
	Met    int             `json:"met"`
	Astray int             `json:"astray"`
	Cut    int             `json:"cut"`
	Why    string          `json:"why"`
}

// ExploredClass are the orders in which the same went wrong, "nothing" or "1 crash".
type ExploredClass struct {
	Name     string             `json:"name"`
	Orders   int                `json:"orders"`
	Outcomes map[lb.Outcome]int `json:"outcomes"`
	// Again are those of the outcomes that break the lock of which an order came to the same when it was
	// performed again.
	Again []lb.Outcome `json:"again"`
	// Declared says how that compares with what the lock declares, "" where it declares nothing.
	Declared string `json:"declared"`
	// Undeclared: none breaks the lock, and the worst that they came to is more than it declares.
	Undeclared bool `json:"undeclared"`
}

// ExploredOrder is one that broke the lock.
type ExploredOrder struct {
	Class   string     `json:"class"`
	Outcome lb.Outcome `json:"outcome"`
	Reason  string     `json:"reason"`
	// Undeclared: the lock does not declare that.
	Undeclared bool     `json:"undeclared"`
	Story      []string `json:"story"`
	// Dir is that of its run, below the exploration's, with slashes.
	Dir string `json:"dir"`
}

// OpenExplored reads an exploration.
func OpenExplored(dir string) (*Explored, error) {
	e := &Explored{Dir: dir}
	return e, readJSON(filepath.Join(dir, exploredFile), e)
}

// SaveExplored writes what was found in an exploration, whose directory it makes.
func SaveExplored(dir string, result any) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("rundir: %w", err)
	}
	return writeJSON(filepath.Join(dir, exploredFile), result)
}

// ExploredOf is where the exploration of a lock lies, of several or of a matrix in dir.
func ExploredOf(dir, algorithm string) string {
	return filepath.Join(dir, ExploredDir, Portable(algorithm))
}

// ViolationOf is where the nth order that broke a lock lies, from 1: as it stands in
// explored.json.
func ViolationOf(n int, class string) string {
	return fmt.Sprintf("%s/%d-%s", violationsDir, n, Portable(class))
}

// exploredIn are the directories in which the explorations of a directory lie.
func exploredIn(dir string) (dirs []string) {
	below, _ := os.ReadDir(filepath.Join(dir, ExploredDir)) // none, if there is no such directory
	for _, b := range below {
		dirs = append(dirs, filepath.Join(dir, ExploredDir, b.Name()))
	}
	return slices.DeleteFunc(append([]string{dir}, dirs...), func(d string) bool { return !exists(filepath.Join(d, exploredFile)) })
}

// ExploredIn are the explorations in a directory: its own, or those of several locks.
func ExploredIn(dir string) (all []*Explored, err error) {
	for _, d := range exploredIn(dir) {
		e, err := OpenExplored(d)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// CreateOrder makes the directory of a run that is one order: its history is whole, and
// schedule is what performs it again.
func CreateOrder(dir string, plan history.Plan, events history.Events, schedule any) (*Run, error) {
	r, err := CreateRun(dir, plan)
	if err != nil {
		return nil, err
	}
	if err := history.Write(r.EventsFile(Runner), events); err != nil {
		return nil, err
	}
	return r, writeJSON(filepath.Join(dir, ScheduleFile), schedule)
}

// ReadSchedule reads the order that is in a file, or in the directory of a run.
func ReadSchedule(name string, schedule any) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, ScheduleFile)
	}
	return readJSON(name, schedule)
}

// Proves says why the exploration proves nothing of what it does not show, "" where it does.
func (e *Explored) Proves() string {
	orders, astray := 0, 0
	for _, l := range e.Levels {
		orders, astray = orders+l.Orders, astray+l.Astray
	}
	switch {
	case orders == 0:
		return "no order was walked"
	case e.Interrupted:
		return "it was interrupted"
	case e.GivenUp != "":
		return "it was given up: " + e.GivenUp
	case e.Timeless != "":
		return "no lease could end: " + e.Timeless
	case len(e.Doubts) > 0:
		return "an order that seemed to break it did not do so again: " + e.Doubts[0]
	case 100*astray > orders+astray:
		return fmt.Sprintf("%d of %s did not go as planned", astray, english.Count(orders+astray, "order"))
	}
	for _, l := range e.Levels {
		switch {
		case l.Orders == 0 && l.Astray > 0:
			return fmt.Sprintf("of the orders with so many faults, %d, none went as planned", l.Faults)
		case l.Share < 1:
			return fmt.Sprintf("of the orders with so many faults, %d, not all were walked: a larger budget, or fewer moves", l.Faults)
		case l.Cut > 0:
			return fmt.Sprintf("cut short where a client sent too many requests: %s", english.Count(l.Cut, "order"))
		}
	}
	return ""
}

// Breaks reports whether an outcome is one by which an order breaks a lock: the shortest of each kind is kept.
func Breaks(o lb.Outcome) bool { return o == lb.Broken || o == lb.Stuck || o == lb.Fence }

// Shown are the orders of a class that came to an outcome: 0 where it breaks the lock and none of them did so
// again.
func (e *Explored) Shown(c ExploredClass, o lb.Outcome) int {
	if Breaks(o) && !slices.Contains(c.Again, o) && !e.Interrupted {
		return 0
	}
	return c.Outcomes[o]
}

// Came counts the orders that came to an outcome, of those that are shown.
func (e *Explored) Came(o lb.Outcome) (n int) {
	for _, c := range e.Classes {
		n += e.Shown(c, o)
	}
	return n
}
