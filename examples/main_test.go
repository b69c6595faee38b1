package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/lab"
)

// asMain makes the test's own program behave as the bench: the lab starts its
// processes from the program that runs.
const asMain = "BENCH_TEST_AS_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestBench puts the lock under the fault, at the work, on the topology: all of them
// do what their files say.
func TestBench(t *testing.T) {
	t.Setenv(asMain, "1")
	if err := lab.Local().Ready(t.Context(), []lab.Kind{redisOnDisk().Kind}); err != nil {
		if ci := os.Getenv("CI"); ci != "" && ci != "false" { // there no test may skip
			t.Fatal(err)
		}
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "matrix", "--json", "--algorithms", "my-token-lock", "--faults", "freeze-server,pause@before-write",
		"--workload", "shop", "--topology", "redis-on-disk", "--duration", "1s", "--out", "m")
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var matrix struct{ Cells []checker.Cell }
	if err := json.Unmarshal(out, &matrix); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range matrix.Cells {
		got += fmt.Sprintf("%s: %s, promise %s\n", c.Fault, c.Outcome, c.Promise)
		if c.Group != "Our own" {
			t.Errorf("%s is among %q", c.Fault, c.Group)
		}
		if !strings.Contains(c.Effect, "stood") {
			t.Errorf("%s had the effect %q", c.Fault, c.Effect)
		}
	}
	if want := "freeze-server: SAFE, promise kept\npause@before-write: FENCE, promise kept\n"; got != want {
		t.Errorf("%swant\n%s", got, want)
	}
	results, err := os.ReadFile(filepath.Join(cmd.Dir, matrix.Cells[1].Dir, "results.json"))
	if err != nil || !regexp.MustCompile(`oversold by [1-9]`).Match(results) {
		t.Errorf("the shop did not notice that it sold what it did not have: %v", err)
	}
}

// TestLines holds the README to what is there.
func TestLines(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		row := regexp.MustCompile(regexp.QuoteMeta("["+file+"]") + `.*\| ([0-9]+) \|`).FindSubmatch(readme)
		if lines := fmt.Sprint(strings.Count(string(text), "\n")); !strings.HasSuffix(file, "_test.go") && (row == nil || string(row[1]) != lines) {
			t.Errorf("%s has %s lines, the README says %q", file, lines, row)
		}
	}
}
