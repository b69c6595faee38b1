package main

import (
	"encoding/json"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/cli/stock"
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
	redis, _ := lab.FindTopology("redis")
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
