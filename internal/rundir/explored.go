package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lockbench/lockbench/history"
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

// OpenExplored reads an exploration.
func OpenExplored(dir string) (*Explored, error) {
	e := &Explored{Dir: dir}
	return e, readJSON(filepath.Join(dir, exploredFile), e)
}

// SaveExplored writes what was found in an exploration, whose directory it makes.
func SaveExplored(dir string, result any) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, exploredFile), result)
}

// ExploredOf is where the exploration of a lock lies, of several or of a matrix in dir.
func ExploredOf(dir, algorithm string) string {
	return filepath.Join(dir, ExploredDir, Portable(algorithm))
}

// ViolationOf is where the nth order that broke a lock lies, from 1: as it stands in
// explored.json.
func ViolationOf(n int, class Class) string {
	return fmt.Sprintf("%s/%d-%s", violationsDir, n, Portable(class.String()))
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
