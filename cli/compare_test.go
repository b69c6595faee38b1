package cli

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// measuredBench leaves the directory of a benchmark of one lock with some noise, the cycle
// in memory being so many times as long.
func measuredBench(t *testing.T, dir string, seed uint64, rounds int, slow float64) {
	t.Helper()
	d, err := rundir.CreateBench(dir, cost.Plan{Algorithms: []string{"A"}, Baseline: "A", Rounds: rounds, TTL: 1e9,
		Machine: &history.Machine{System: "linux/amd64", Cores: 2}, Versions: map[string]string{"redis-server": "7.0"}})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	noise := func() float64 { return math.Exp(.03 * r.NormFloat64()) }
	for _, s := range []cost.Servers{cost.Disk, cost.Memory} {
		one, all := d.Bench.Cell(cost.Uncontended("A", s), "redis"), d.Bench.Cell(cost.Contended("A", s), "redis")
		for round := range rounds {
			one.Add(round, cost.Writes, 5e4*noise())
			one.Add(round, cost.Requests, 2)
			one.Add(round, cost.Cycle, 6e4*noise()*map[cost.Servers]float64{cost.Disk: 1, cost.Memory: slow}[s])
			all.Add(round, cost.HandOffs, 800*noise())
		}
	}
	d.Bench.Rounds = rounds
	if err := d.Save(); err != nil {
		t.Fatal(err)
	}
}

// TestCompareCosts: what got slower ends with 3, a cell that got worse counts more, and what
// can't be told any more is 2.
func TestCompareCosts(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cell := func(outcome string) string {
		return `{"schema": 2, "cells": [{"algorithm": "A", "fault": "f", "outcome": "` + outcome + `", "runs": 1}]}`
	}
	for name, slow := range map[string]float64{"before": 1, "now": 1, "slow": 1.3, "safe": 1, "slowsafe": 1.3, "slowbroken": 1.3, "slowlost": 1.3} {
		measuredBench(t, in(name), uint64(len(name)), 10, slow)
		if outcome := map[string]string{"safe": "SAFE", "slowsafe": "SAFE", "slowbroken": "BROKEN", "slowlost": "INCONCLUSIVE"}[name]; outcome != "" {
			write(name+"/matrix.json", cell(outcome))
		}
	}
	measuredBench(t, in("short"), 9, 1, 1)
	write("cells.json", cell("SAFE"))
	for names, want := range map[string]int{
		"before now": exitKept, "before slow": exitSlow, "slow before": exitKept, "before slow --min-difference 40%": exitKept,
		"before slow --min-difference 0.5": exitKept, "before slow --min-difference much": exitUsage,
		"before/bench.json slow": exitSlow, "before/bench.json slow/bench.json": exitSlow,
		"safe safe": exitKept, "safe slowsafe": exitSlow, "safe slowbroken": exitBroke, "safe slowlost": exitSlow,
		"safe now": exitUndecided, "now safe": exitKept, // no cells any more, and new ones
		"safe cells.json": exitUndecided, "cells.json safe": exitKept, // no benchmark any more, and a new one
		"before cells.json": exitUndecided, "before short": exitUndecided,
	} {
		code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, append([]string{"compare"}, strings.Fields(names)...)...))
		if code != want {
			t.Errorf("compare %s: exit code %d, want %d\n%s%s", names, code, want, stdout, stderr)
		}
	}
	_, stdout, _ := testkit.Ran(t, testkit.Command(t, dir, "compare", "safe", "slowbroken", "--json", "--html", "d.html"))
	if err := against("compare", stdout); err != nil {
		t.Errorf("%v\n%s", err, stdout)
	}
	page, err := os.ReadFile(in("d.html"))
	if err != nil || !strings.Contains(string(page), `<svg class="fr worse"`) || !strings.Contains(string(page), "SAFE → BROKEN") {
		t.Errorf("the page does not draw what got worse: %v", err)
	}
}

// TestGateBefore: a limit can be a share of what a file measured before.
func TestGateBefore(t *testing.T) {
	dir := t.TempDir()
	measuredBench(t, filepath.Join(dir, "ci", "before"), 1, 10, 1)
	measuredBench(t, filepath.Join(dir, "now"), 2, 10, 1)
	for text, want := range map[string]int{
		"limits: [cycle <= 1.1 * before]\nbefore: before":             exitKept,
		"limits: [cycle <= 0.8 * before]\nbefore: before/bench.json":  exitSlow,
		"limits: [outage <= 1.1 * before]\nbefore: before/bench.json": exitUndecided,
		"limits: [cycle <= 1.1 * before]":                             exitUsage,
		"limits: [cycle <= 1.1 * before]\nbefore: nowhere":            exitUsage,
	} {
		if err := os.WriteFile(filepath.Join(dir, "ci", "lockbench.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "gate", "--config", "ci/lockbench.yaml", "now"))
		if code != want || code == exitUsage && !strings.Contains(stderr, "ci/lockbench.yaml:") {
			t.Errorf("%s\nexit code %d, want %d\n%s%s", text, code, want, stdout, stderr)
		}
	}
}

// TestGateTwice: of two benchmarks of a lock nobody could say which is held to the limit.
func TestGateTwice(t *testing.T) {
	dir := t.TempDir()
	measuredBench(t, filepath.Join(dir, "old"), 1, 10, 1)
	measuredBench(t, filepath.Join(dir, "new"), 2, 10, 3)
	if err := os.WriteFile(filepath.Join(dir, "lockbench.yaml"), []byte("limits: [cycle < 1s]"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "gate", "old", "new"))
	if code != exitUsage || !strings.Contains(stderr, "old and new hold a benchmark of A each") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
