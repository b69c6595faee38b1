// Package run turns a plan into a run: it brings the lab up, lets the workers
// work, injects and heals the fault, and leaves a directory from which the
// checkers and the reports do the rest.
//
// [Execute] is called in the user's own process. It starts this program again,
// inside the lab, where [Perform] does the work.
package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/history"
)

// Names inside a run's directory, beside those of package history.
const (
	planFile    = "plan.json"
	resultsFile = "results.json"
	matrixFile  = "matrix.json"
	logDir      = "logs"
)

// schema is the version of plan.json, results.json and matrix.json.
const schema = 1

// create makes the directory of a run, with its plan. It must not exist yet.
func create(dir string, plan lb.Plan) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("run: a run never writes over another: %w", err)
	}
	for _, sub := range []string{history.Dir, logDir} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return fmt.Errorf("run: %w", err)
		}
	}
	plan.Schema, plan.Made = schema, time.Now().Truncate(time.Second)
	return writeJSON(filepath.Join(dir, planFile), plan)
}

// ReadPlan reads a run's plan.
func ReadPlan(dir string) (lb.Plan, error) {
	var plan lb.Plan
	path := filepath.Join(dir, planFile)
	if err := readJSON(path, &plan); err != nil {
		return plan, err
	}
	if plan.Schema != schema {
		return plan, fmt.Errorf("%s: schema %d; this lockbench reads schema %d", path, plan.Schema, schema)
	}
	return plan, nil
}

// Latest points the link "latest" beside dir at it.
func Latest(dir string) error {
	link := filepath.Join(filepath.Dir(dir), "latest")
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("run: %w", err)
	}
	return os.Symlink(filepath.Base(dir), link)
}

// NewDir is a name for a run's directory, by its time and what it is.
func NewDir(what string) string {
	return filepath.Join("runs", time.Now().Format("20060102-150405.000")+"-"+what)
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("run: encode %s: %w", path, err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// readJSON names the file, and the line where the text is damaged.
func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	err = json.Unmarshal(b, v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return &history.LineError{File: path, Line: lineAt(b, syntax.Offset), Err: err}
	case errors.As(err, &kind):
		return &history.LineError{File: path, Line: lineAt(b, kind.Offset), Err: err}
	}
	return err
}

func lineAt(b []byte, offset int64) int {
	line := 1
	for _, c := range b[:min(int(offset), len(b))] {
		if c == '\n' {
			line++
		}
	}
	return line
}
