package rundir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
)

// Bench is the directory of a benchmark.
type Bench struct {
	Dir   string
	Bench *cost.Bench
}

// CreateBench makes the directory of a benchmark, with its plan. There may be a matrix in
// it, but neither another benchmark nor a run: the error then matches [fs.ErrExist].
func CreateBench(dir string, plan cost.Plan) (*Bench, error) {
	for _, file := range []string{benchFile, planFile} {
		if path := filepath.Join(dir, file); exists(path) {
			return nil, fmt.Errorf("a benchmark never writes over another, or into a run; give it a directory of its own or that of a matrix: %s: %w", path, fs.ErrExist)
		}
	}
	for _, sub := range []string{"", logsDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	plan.Made = time.Now().Truncate(time.Second)
	b := &Bench{dir, &cost.Bench{Schema: history.Schema, Plan: plan}}
	return b, b.Save()
}

// OpenBench reads a benchmark, also one that is not finished. Without one the error
// matches [fs.ErrNotExist].
func OpenBench(dir string) (*Bench, error) {
	b := &Bench{Dir: dir, Bench: &cost.Bench{}}
	if err := readJSON(filepath.Join(dir, benchFile), b.Bench); err != nil {
		return nil, err
	}
	return b, nil
}

// Save writes what was measured until now: bench.json, and bench.txt for benchstat.
func (b *Bench) Save() error {
	if err := writeJSON(filepath.Join(b.Dir, benchFile), b.Bench); err != nil {
		return err
	}
	text, err := b.Bench.Text()
	if err != nil {
		return err
	}
	return replace(filepath.Join(b.Dir, BenchText), text)
}

// LogsDir is where the processes' output is.
func (b *Bench) LogsDir() string { return filepath.Join(b.Dir, logsDir) }

// DataDir is where durable servers keep their data, for as long as it is measured.
func (b *Bench) DataDir() string { return filepath.Join(b.Dir, dataDir) }

// OpenLog opens the output of the process of that name, to append to.
func (b *Bench) OpenLog(name string) (*os.File, error) { return openLog(b.LogsDir(), name) }
