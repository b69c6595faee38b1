package cli

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// careless is redis-setpx-del, broken on purpose: it promises what redis-setpx-lua does.
type careless struct{ lb.Impl }

func (c careless) Info() lb.Info {
	info := c.Impl.Info()
	info.Name, info.Expect = "careless", redis.SetPXLua().Info().Expect
	return info
}

// disabled are pause-holder without its bite: one that does nothing, and one that freezes
// for so short a time that no lease ends, and says that it took effect.
func disabled() (list []faults.Fault) {
	for _, f := range faults.All() {
		if f.Name != "pause-holder" {
			continue
		}
		f.Name, f.Inject = "idle", func(context.Context, faults.Strike) (faults.Proof, error) { return nil, nil }
		list = append(list, f)
		f.Name, f.Lasts, f.Inject = "feigned", faults.Length{Time: 100 * time.Millisecond}, func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			_, err := on.Stop(ctx, nil, on.Step(), faults.Freeze)
			return func() history.Proof { return history.Proof{Proven: true, Measured: "frozen for long enough, it says"} }, err
		}
		list = append(list, f)
	}
	return list
}

// gateSays is what gate --json prints beside the cells.
type gateSays struct {
	Gate struct {
		Exit     int
		Findings []gate.Finding
	}
}

// TestGate puts a lock that is broken on purpose and a bench that is blinded before the
// gate, on a real server: both must close it, each by its name.
func TestGate(t *testing.T) {
	t.Parallel()
	needLab(t, 4)
	dir := t.TempDir()
	conf := `
run:
  algorithms: [redis-setpx-lua, careless]
  faults: [pause-holder, idle, feigned]
  duration: 500ms
  seed: 11
promises:
  - {fault: pause-holder, outcomes: [CHECK], reason: overstay}
  - {algorithm: redis-*, outcomes: [CHECK, BROKEN], reason: overstay, why: a known break}
  - {fault: "*", require: SAFE}
`
	if err := os.WriteFile(filepath.Join(dir, "lockbench.yaml"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "gate", "--json", "--out", "g", "--junit", "j.xml", "--summary", "s.md"))
	if code != exitBroke {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	validates(t, stdout)
	wellFormed(t, filepath.Join(dir, "j.xml"))
	got := foundBy(t, stdout)
	for where, want := range map[string]struct {
		kind gate.Failure
		says string
	}{
		"careless under pause-holder":   {gate.Broken, lb.DoubleGrant + ": "},
		"redis-setpx-lua under idle":    {gate.Blind, "the fault never struck"},
		"redis-setpx-lua under feigned": {gate.Blind, "nothing went wrong in 1 run"},
		"careless under idle":           {gate.Undecided, "the fault never struck"},
	} {
		f := got[where]
		if f.Kind != want.kind || !strings.HasPrefix(f.Says, want.says) || f.Again == "" {
			t.Errorf("%s: %+v, want %s: %s", where, f, want.kind, want.says)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d findings, want 4: %+v", len(got), got)
	}
	// The runs carry what was promised of them, for the page and for whoever judges again.
	r, err := rundir.OpenRun(filepath.Join(dir, "g", "cells", "redis-setpx-lua", "idle", "1"))
	if err != nil || r.Plan.Expect == nil || r.Plan.Expect.Why != "a known break" {
		t.Errorf("the plan promises %+v, %v", r.Plan.Expect, err)
	}
	// The command that reproduces it can be pasted, and does.
	again := exec.Command("sh", "-c", got["careless under pause-holder"].Again+" --out again")
	again.Dir = dir
	if code, stdout, stderr := testkit.Ran(t, again); code != exitBroke || !strings.Contains(stdout, "careless under pause-holder is BROKEN") {
		t.Errorf("again: exit code %d\n%s%s", code, stdout, stderr)
	}
	// What was run can be judged again, and where the hazard is allowed it passes.
	known := "promises: [{algorithm: careless, fault: pause-holder, outcomes: [BROKEN], reason: double grant}]\n"
	if err := os.WriteFile(filepath.Join(dir, "known.yaml"), []byte(known), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "gate", "--config", "known.yaml", "again")); code != exitKept {
		t.Errorf("judged as a known break: exit code %d\n%s%s", code, stdout, stderr)
	}
	namesEveryFile(t, filepath.Join(dir, "g"))
}

func foundBy(t *testing.T, stdout string) map[string]gate.Finding {
	t.Helper()
	var says gateSays
	if err := json.Unmarshal([]byte(stdout), &says); err != nil {
		t.Fatal(err)
	}
	got := map[string]gate.Finding{}
	for _, f := range says.Gate.Findings {
		got[f.Where()] = f
	}
	return got
}

// validates holds what is printed as JSON to the published schema of cells.
func validates(t *testing.T, text string) {
	t.Helper()
	if err := against("cells", text); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// against says what a published schema has against what is printed as JSON.
func against(schema, text string) error {
	cmd := exec.Command("go", "run", "../internal/testkit/schema", "../docs/"+schema+".schema.json")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return err
}

// TestSchema: what is written is what the schema says, and the schema names each field
// that there is, and refuses others.
func TestSchema(t *testing.T) {
	dir := t.TempDir()
	m := recordMatrix(t, filepath.Join(dir, "m"))
	_, printed, _ := testkit.Ran(t, testkit.Command(t, dir, "check", "--json", "m"))
	validates(t, printed)
	_, printed, _ = testkit.Ran(t, testkit.Command(t, dir, "gate", "--json", "m"))
	validates(t, printed)
	text, err := os.ReadFile(filepath.Join(m.Dir, "matrix.json"))
	if err != nil {
		t.Fatal(err)
	}
	validates(t, string(text))
	for _, wrong := range []string{`{"schema": 2}`, `{"schema": 3, "cells": []}`, `{"schema": 2, "cells": [{}]}`, `{"schema": 2, "cells": [], "more": 1}`,
		strings.Replace(printed, `"outcome":"SAFE"`, `"outcome":"FINE"`, 1), strings.Replace(printed, `"runs":`, `"ran":`, 1)} {
		if err := against("cells", wrong); err == nil || !strings.Contains(err.Error(), "jsonschema validation failed") {
			t.Errorf("the schema takes %.200s", wrong)
		}
	}
	for of, v := range map[string]any{"cell": checker.Cell{}, "copy": checker.Copy{}, "share": checker.Share{}, "finding": gate.Finding{}} {
		var there struct {
			Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
		}
		text, err := os.ReadFile("../docs/cells.schema.json")
		if err = errors.Join(err, json.Unmarshal(text, &there)); err != nil {
			t.Fatal(err)
		}
		kind := reflect.TypeOf(v)
		for i := range kind.NumField() {
			name, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			if there.Defs[of].Properties[name] == nil {
				t.Errorf("the schema's %s has no %s", of, name)
			}
		}
		if n := len(there.Defs[of].Properties); n != kind.NumField() {
			t.Errorf("the schema's %s has %d properties, and there are %d fields", of, n, kind.NumField())
		}
	}
}

// wellFormed reads a file as XML to its end.
func wellFormed(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for dec := xml.NewDecoder(f); ; {
		if _, err := dec.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
}

// TestExampleGate: the example is a gate that could be run here, and it has every key.
func TestExampleGate(t *testing.T) {
	g := gateRun{program: program{things()}}
	conf, err := gate.Load("../docs/lockbench.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, err := g.matrixOf(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Algorithms) != 2 || len(m.Faults) != 3 || m.Runs != 2 || m.Jobs != 4 || m.Base.Seed != 7 || len(conf.Promises) != 2 || conf.Require != lb.Fence {
		t.Errorf("%d locks, %d faults, %d runs, %d jobs, seed %d, %d promises, require %s", len(m.Algorithms), len(m.Faults), m.Runs, m.Jobs,
			m.Base.Seed, len(conf.Promises), conf.Require)
	}
	for i := range m.Algorithms {
		info := promising{m.Algorithms[i], conf, m}.Info()
		for _, f := range m.Faults {
			e := info.Expected(f.Name)
			if e == nil {
				t.Errorf("nothing is promised for %s under %s", info.Name, f.Name)
			} else if info.Name == "redis-setpx-lua" && f.Name == "pause-holder" && e.Why != "the holder can't know how long it stood still, unless it looks" {
				t.Errorf("the lock's own promise counts: %+v", e)
			}
		}
	}
	text, err := os.ReadFile("../docs/lockbench.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// The limits stand there as a comment, since there is no benchmark yet in every CI.
	var limits []string
	for line := range strings.Lines(string(text)) {
		if _, s, ok := strings.Cut(line, "limits:"); ok && strings.HasPrefix(line, "#") && strings.TrimSpace(s) == "" || len(limits) > 0 {
			limits = append(limits, strings.TrimPrefix(line, "# "))
		}
	}
	conf, err = gate.Parse("limits.yaml", []byte(strings.Join(limits, "")))
	if err != nil || len(conf.Limits) != 3 {
		t.Errorf("%d limits, %v", len(conf.Limits), err)
	}
}

// TestGateOfUnfinishedMatrix: what was not run, or not to its end, opens no gate.
func TestGateOfUnfinishedMatrix(t *testing.T) {
	dir := t.TempDir()
	recordMatrix(t, filepath.Join(dir, "m"))
	testkit.Ran(t, testkit.Command(t, dir, "check", "m"))
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "gate", "--json", "m"))
	if code != exitUndecided {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	got := foundBy(t, stdout)
	for where, want := range map[string]string{
		"A under none":  "undecided: 1 of 3 runs not done",
		"A under cut:x": "undecided: the run was cut short",
		"B under none":  "no data: not run",
	} {
		if f := got[where]; string(f.Kind)+": "+f.Says != want {
			t.Errorf("%s: %+v, want %s", where, f, want)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d findings, want 3: %+v", len(got), got)
	}
}
