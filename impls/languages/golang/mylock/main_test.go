package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/cli/stock"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
)

func TestMain(m *testing.M) {
	testkit.Main(m, func(args []string) int {
		bench := stock.Catalog()
		bench.Locks = append(bench.Locks, myLock{})
		return cli.Main(args, bench)
	})
}

// TestTemplate: what lockbench template go writes is what it claims, and as good as the lock in the list
// that does the same.
func TestTemplate(t *testing.T) {
	redis, _ := backends.Topology("redis")
	testkit.Need(t, "the local lab with Redis", lab.Local().Ready(t.Context(), []lab.Kind{redis.Kind}))
	testkit.Share(t, 2)
	dir := t.TempDir()
	if code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "conform", "--algorithm", "my-lock")); code != 0 || strings.Contains(stdout, "FAIL") {
		t.Errorf("conform: exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "matrix", "--json", "--algorithms", "my-lock", "--faults", "none,pause-holder,kill-holder,client-clock:drift",
		"--ttl", "1s", "--duration", "1s", "--clients", "3", "--processes", "3", "--seed", "3", "--out", "m"))
	var matrix struct{ Cells []checker.Cell }
	if err := json.Unmarshal([]byte(stdout), &matrix); err != nil || code != 0 {
		t.Fatalf("matrix: exit code %d, %v\n%s", code, err, stderr)
	}
	want := map[string]lb.Outcome{"none": lb.Safe, "pause-holder": lb.Check, "kill-holder": lb.Safe, "client-clock:drift": lb.Broken}
	for _, c := range matrix.Cells {
		if c.Outcome != want[c.Fault] {
			t.Errorf("%s: %s, want %s: %s (%s)", c.Fault, c.Outcome, want[c.Fault], c.Reason, c.Effect)
		}
	}
	if len(matrix.Cells) != len(want) {
		t.Errorf("%d cells, want %d", len(matrix.Cells), len(want))
	}
}

// TestTwin: the orders of the template in Python come to what those of the same lock in Go come to, as many of each
// kind, and not only in the same ways: where each moment is walked on from as often as it comes, since nobody knows of a program
// when two are the same.
func TestTwin(t *testing.T) {
	redis, _ := backends.Topology("redis")
	testkit.Need(t, "the local lab with Redis", lab.Local().Ready(t.Context(), []lab.Kind{redis.Kind}))
	testkit.Share(t, 2)
	dir := t.TempDir()
	if code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "template", "python")); code != 0 {
		t.Fatal(stderr)
	}
	file := filepath.Join(dir, "mylock.py")
	text, err := os.ReadFile(file)
	if err := errors.Join(err, os.WriteFile(file, bytes.Replace(text, []byte(`"my-lock"`), []byte(`"my-twin"`), 1), 0o755)); err != nil {
		t.Fatal(err)
	}
	bounds := explore.Bounds{Clients: 2, Acquisitions: 1, Polls: 1, Renewals: 1, Crashes: 1, Lost: 1, Faults: 1}
	args := []string{"explore", "--exec", "./mylock.py", "--acquisitions", "1", "--reuse", "--json", "--out", "e"}
	if testkit.All() {
		bounds.Expiries = 1
	} else {
		args = append(args, "--expiries", "0")
	}
	var python explore.Result
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, args...))
	if err := json.Unmarshal([]byte(stdout), &python); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	bench := stock.Catalog()
	bench.Locks = append(bench.Locks, myLock{})
	golang, err := explore.Execute(t.Context(), bench, explore.Plan{ExploredLock: rundir.ExploredLock{Algorithm: "my-lock", Topology: redis.Name}, Workload: bench.Workloads[0].Info().Name, Lab: "local",
		Budget: 60_000, Seed: 1, Bounds: bounds, Unpruned: explore.EveryMoment}, func(explore.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	counts := func(r *explore.Result) string {
		s := r.Digest
		for _, c := range r.Classes {
			s += fmt.Sprintf("; %s: %v of %d", c.Class, c.Outcomes, c.Orders)
		}
		for _, l := range r.Levels {
			s += fmt.Sprintf("; with %d faults %v of all, %d astray %s", l.Faults, l.Share, l.Astray, l.Why)
		}
		return s
	}
	if p, g := counts(&python), counts(golang); p != g || golang.Orders() < 60 {
		t.Errorf("in Python %s\nin Go     %s", p, g)
	}
}
