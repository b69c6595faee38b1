package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cli/stock"
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
	cells, dir := matrix(t, lab.Local(), redisOnDisk(), "--algorithms", "my-token-lock", "--faults", "freeze-server,pause@before-write", "--workload", "shop", "--topology", "redis-on-disk")
	got := ""
	for _, c := range cells {
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
	results, err := os.ReadFile(filepath.Join(dir, cells[1].Dir, "results.json"))
	if err != nil || !regexp.MustCompile(`oversold by [1-9]`).Match(results) {
		t.Errorf("the shop did not notice that it sold what it did not have: %v", err)
	}
}

// TestLab: the lab has a reason for all that others can and it can't, and brings up servers of two kinds. What needs another
// lab is n/a for that reason.
func TestLab(t *testing.T) {
	mine := plain()
	for _, other := range stock.Catalog().Labs {
		for _, a := range other.Claims {
			if slices.Contains(mine.Claims, a) == (mine.Lacks[a] != "") {
				t.Errorf("claims to %s, or says why not", a)
			}
		}
	}
	want := map[string]string{
		"kill-server":  "was killed when",
		"server-clock": "ahead, as it told itself",
		"cut-holder":   "the plain lab can't drop packets: its hosts share",
	}
	mariadb, _ := backends.Topology("mariadb")
	cells, _ := matrix(t, mine, mariadb, "--lab", mine.Name, "--algorithms", "my-token-lock,mysql-forupdate", "--faults", "kill-server,server-clock,cut-holder")
	if len(cells) != 2*len(want) {
		t.Errorf("%d cells", len(cells))
	}
	for _, c := range cells {
		if told := c.Effect + c.Reason; c.Outcome == lb.Inconclusive || !strings.Contains(told, want[c.Fault]) {
			t.Errorf("%s × %s: %s, %q; want %q", c.Algorithm, c.Fault, c.Outcome, told, want[c.Fault])
		}
	}
}

// matrix runs one in a directory of its own, where the lab has servers of that kind.
func matrix(t *testing.T, on lab.Driver, servers lab.Topology, args ...string) (cells []checker.Cell, dir string) {
	t.Helper()
	t.Setenv(asMain, "1")
	if err := on.Ready(t.Context(), []lab.Kind{servers.Kind}); err != nil {
		if ci := os.Getenv("CI"); ci != "" && ci != "false" { // there no test may skip
			t.Fatal(err)
		}
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"matrix", "--json", "--duration", "1s", "--out", "m"}, args...)...)
	cmd.Dir, cmd.Stderr = t.TempDir(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var told struct{ Cells []checker.Cell }
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatal(err)
	}
	return told.Cells, cmd.Dir
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
