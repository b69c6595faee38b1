package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/rogpeppe/go-internal/testscript"
)

const samples = "../checker/testdata"

// record makes the directory of a run of what a sample of the checkers holds, as if
// its three workers, the store and the runner had recorded it.
func record(dir, sample string, plan history.Plan) error {
	text, err := os.ReadFile(filepath.Join(samples, sample+".plan.json"))
	if err != nil {
		return err
	}
	given := plan
	if err := json.Unmarshal(text, &plan); err != nil {
		return err
	}
	plan.Algorithm, plan.Fault, plan.Seed, plan.Expect, plan.Processes = given.Algorithm, given.Fault, given.Seed, given.Expect, 3
	if text, err = os.ReadFile(filepath.Join(samples, sample+".jsonl")); err != nil {
		return err
	}
	r, err := rundir.CreateRun(dir, plan)
	if err != nil {
		return err
	}
	header, lines, _ := strings.Cut(string(text), "\n")
	files := map[string]string{}
	for _, name := range []string{rundir.Runner, rundir.Store, "w1", "w2", "w3"} {
		files[name] = header + "\n"
	}
	for line := range strings.Lines(lines) {
		var ev event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			return err
		}
		files[recorder(ev)] += line
	}
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(r.EventsFile(name), []byte(text), 0o644))
	}
	return err
}

// event is what of a line tells who recorded it.
type event struct {
	Kind   history.Kind `json:"e"`
	Worker string       `json:"worker"`
	Client string       `json:"client"`
}

func recorder(ev event) string {
	switch ev.Kind {
	case history.KindFault, history.KindAct, history.KindEnd:
		return rundir.Runner
	case history.KindRead, history.KindWrite:
		return rundir.Store
	}
	return cmp.Or(ev.Worker, history.WorkerName(ev.Client))
}

// sample is [record] for scripts: sample DIR NAME.
func sample(ts *testscript.TestScript, _ bool, args []string) {
	fault := "none"
	if args[1] != "safe" {
		fault = "pause-holder"
	}
	if err := record(ts.MkAbs(args[0]), args[1], history.Plan{Algorithm: "A", Fault: fault}); err != nil {
		ts.Fatalf("%v", err)
	}
}

// recordMatrix makes the directory of a matrix: a cell with a hazard that is known, one
// with two of its three runs, one that was cut short, one without runs, and one that
// can't be.
func recordMatrix(t *testing.T, dir string) *rundir.Matrix {
	t.Helper()
	expect := map[string]*lb.Expectation{
		"none":         {Fault: "none", Outcomes: []lb.Outcome{lb.Safe}},
		"pause-holder": {Fault: "pause-*", Outcomes: []lb.Outcome{lb.Broken, lb.Check}, Reason: lb.Overstay},
	}
	cells := []checker.Cell{
		{Algorithm: "A", Fault: "none"}, {Algorithm: "A", Fault: "pause-holder"}, {Algorithm: "A", Fault: "cut:x"},
		{Algorithm: "B", Fault: "none"}, {Algorithm: "B", Fault: "cut:x", Outcome: lb.NotAvailable, Reason: "no network"},
	}
	m, err := rundir.CreateMatrix(dir, cells, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []struct {
		cell, n int
		sample  string
	}{{0, 0, "safe"}, {0, 1, "safe"}, {1, 0, "overstay-check"}, {1, 1, "overstay-broken"}, {1, 2, "overstay-check"}, {2, 0, "safe"}} {
		c := cells[run.cell]
		_, full := m.RunDir(run.cell, run.n)
		plan := history.Plan{Algorithm: c.Algorithm, Fault: c.Fault, Seed: uint64(10 + run.n), Expect: expect[c.Fault]}
		if err := record(full, run.sample, plan); err != nil {
			t.Fatal(err)
		}
		if c.Fault == "cut:x" {
			if err := os.Truncate(filepath.Join(full, "events", "runner.jsonl"), int64(len(`{"lockbench":"history","version":1}`)+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}
