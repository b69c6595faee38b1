package rundir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// Run is the directory of one run.
type Run struct {
	Dir  string
	Plan history.Plan
}

// CreateRun makes the directory of a run, with its plan. It must not exist yet.
func CreateRun(dir string, plan history.Plan) (*Run, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("a run never writes over another: %w", err)
		}
		return nil, err
	}
	for _, sub := range []string{eventsDir, logsDir} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	plan.Schema, plan.Made = history.Schema, time.Now().Truncate(time.Second)
	r := &Run{dir, plan}
	return r, writeJSON(filepath.Join(dir, planFile), plan)
}

// OpenRun reads the plan of a run. Without one the error matches [fs.ErrNotExist].
func OpenRun(dir string) (*Run, error) {
	r := &Run{Dir: dir}
	if err := readJSON(filepath.Join(dir, planFile), &r.Plan); err != nil {
		return nil, err
	}
	return r, nil
}

// EventsDir is where the recorders write.
func (r *Run) EventsDir() string { return filepath.Join(r.Dir, eventsDir) }

// EventsFile is the file of one recorder.
func (r *Run) EventsFile(recorder string) string {
	return filepath.Join(r.Dir, eventsDir, recorder+eventsExt)
}

// LogsDir is where the processes' output is.
func (r *Run) LogsDir() string { return filepath.Join(r.Dir, logsDir) }

// LogFile is the output of the process of that name.
func (r *Run) LogFile(name string) string { return filepath.Join(r.Dir, logsDir, name+logExt) }

// OpenLog opens the output of the process of that name, to append to.
func (r *Run) OpenLog(name string) (*os.File, error) { return openLog(r.LogsDir(), name) }

func openLog(dir, name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, name+logExt), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// recorders are those that the plan names. Of one order of an exploration there is but one.
func (r *Run) recorders() []string {
	if len(r.Plan.Order) > 0 {
		return []string{Runner}
	}
	names := []string{Runner, Store}
	for n := range r.Plan.Processes {
		names = append(names, Worker(n+1))
	}
	return names
}

// History reads what was recorded. A planned recorder that left no file leaves the
// history in doubt.
func (r *Run) History(ctx context.Context) (*history.Index, error) {
	return r.HistoryAs(ctx, history.ClockErrors{})
}

// HistoryAs is History with the errors of clocks taken so.
func (r *Run) HistoryAs(ctx context.Context, errs history.ClockErrors) (*history.Index, error) {
	entries, err := os.ReadDir(r.EventsDir())
	if errors.Is(err, fs.ErrNotExist) {
		if f, old := open(filepath.Join(r.Dir, oldHistory)); old == nil {
			defer f.Close()
			return history.ReadFrom(ctx, f, f.Name())
		}
	} else if err != nil {
		return nil, err
	}
	files := map[string]string{} // by recorder
	for _, e := range entries {
		name, compressed := strings.CutSuffix(e.Name(), gz)
		recorder, ok := strings.CutSuffix(name, eventsExt)
		if _, twice := files[recorder]; ok && !(compressed && twice) {
			files[recorder] = filepath.Join(r.EventsDir(), e.Name())
		}
	}
	var missing, paths []string
	for _, recorder := range r.recorders() {
		if files[recorder] == "" {
			missing = append(missing, r.EventsFile(recorder))
		}
	}
	for _, path := range files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return errs.ReadFiles(ctx, paths, missing)
}

// Result is what the checkers made of the run when it was last judged. Without one
// the error matches [fs.ErrNotExist].
func (r *Run) Result() (checker.Result, error) {
	var res checker.Result
	return res, readJSON(filepath.Join(r.Dir, resultFile), &res)
}

// SaveResult writes the result beside the history.
func (r *Run) SaveResult(res checker.Result) error {
	res.Schema = history.Schema
	return writeJSON(filepath.Join(r.Dir, resultFile), res)
}
