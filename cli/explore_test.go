package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/explore"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// explored runs explore, and wants an exit code.
func explored(t *testing.T, dir string, want int, args ...string) (stdout string) {
	t.Helper()
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, append([]string{"explore"}, args...)...))
	if code != want {
		t.Fatalf("explore %q: exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
	}
	return stdout
}

// TestExplore: no order without faults breaks a good lock, and that is said with the number.
func TestExplore(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	out := explored(t, dir, exitKept, "--algorithm", "redis-setpx-lua", "--faults", "0")
	for _, want := range []string{"nothing  34 orders: 34 SAFE  as declared", "none of these 34 orders breaks it: every order of 2 clients"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	contains(t, filepath.Join(dir, "runs", "latest", rundir.PageFile), "none of these 34 orders breaks it")
	again := explored(t, dir, exitKept, "--algorithm", "redis-setpx-lua", "--faults", "0")
	if set := func(s string) string { _, set, _ := strings.Cut(s, "digest "); return strings.Fields(set)[0] }; set(out) != set(again) {
		t.Errorf("another walk ends in other ways: %s and %s", set(out), set(again))
	}
}

// TestExploreFindsWhatBreaks: a lock that frees what others hold is seen to, in an order that can
// be read, judged again and performed again; and the matrix tells of it.
func TestExploreFindsWhatBreaks(t *testing.T) {
	t.Parallel()
	needLab(t, 2)
	dir := t.TempDir()
	if code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "matrix", "--algorithms", "redis-setpx-del", "--faults", "none,kill-holder", "--duration", "100ms", "--out", "m")); code == exitUsage || code == exitCantRun {
		t.Fatalf("matrix: exit code %d\n%s%s", code, stdout, stderr)
	}
	out := explored(t, dir, exitKept, "--algorithm", "redis-setpx-del", "--acquisitions", "1", "--crashes", "0", "--lost", "0", "--matrix", "m")
	for _, want := range []string{"as declared (pause-holder: BROKEN)", "BROKEN by ", "   1. c1 sends set", "again:  "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	e, err := rundir.OpenExplored(rundir.ExploredOf(filepath.Join(dir, "m"), "redis-setpx-del"))
	if err != nil || len(e.Violations) == 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	v := e.Violations[0]
	order := filepath.Join(e.Dir, v.Dir)
	if code, stdout, _ := testkit.Ran(t, testkit.Command(t, dir, "check", order)); code != exitBroke || !strings.Contains(stdout, string(v.Outcome)+" ("+v.Reason) {
		t.Errorf("check: exit code %d, and not %s (%s):\n%s", code, v.Outcome, v.Reason, stdout)
	}
	if out := explored(t, dir, exitBroke, "--replay", order, "--times", "3"); !strings.HasPrefix(out, string(v.Outcome)+" 3 of 3\n") {
		t.Errorf("replayed: %s", out)
	}
	other := filepath.Join(t.TempDir(), rundir.ScheduleFile)
	text, err := os.ReadFile(filepath.Join(order, rundir.ScheduleFile))
	if err := errors.Join(err, os.WriteFile(other, []byte(strings.Replace(string(text), `"do": "reads"`, `"do": "works"`, 1)), 0o644)); err != nil {
		t.Fatal(err)
	}
	if out := explored(t, dir, exitUndecided, "--replay", other); !strings.HasPrefix(out, "INCONCLUSIVE 1 of 1\n") || !strings.Contains(out, " works can't come next") {
		t.Errorf("an order that can't be: %s", out)
	}
	contains(t, filepath.Join(order, rundir.PageFile), "Move by move", "<li>c1 sends set", "explore</span>")
	contains(t, filepath.Join(dir, "m", rundir.PageFile), "orders break it", "explored/redis-setpx-del/"+v.Dir+"/report.html")
	if code, stdout, _ := testkit.Ran(t, testkit.Command(t, dir, "report", "--markdown", "m")); code != exitKept || !strings.Contains(stdout, "**redis-setpx-del** on redis: BROKEN by ") {
		t.Errorf("report --markdown: exit code %d\n%s", code, stdout)
	}
	if code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "report", order, "m")); code != exitUsage || !strings.Contains(stderr, "one order of an exploration") {
		t.Errorf("report with other runs: exit code %d, %s", code, stderr)
	}
}

// TestExploreKnown: locks that an order alone breaks are broken by the one that is known.
func TestExploreKnown(t *testing.T) {
	t.Parallel()
	needLab(t, 0)
	one := []string{"--acquisitions", "1"}
	for _, c := range []struct {
		algorithm, fault string
		args, story      []string
	}{
		{"redis-setnx-expire", "--crashes", one, []string{"STUCK by ", "1. c1 sends setnx", "2. c1 dies"}},
		{"redis-setnx-getset", "--expiries", one, []string{"BROKEN by ", "a lease's time passes", "c2 sends getset", "c1 sends del"}},
		{"published-000-lettuce", "", []string{"--budget", "100"}, []string{"BROKEN by ", "1. c1 sends set", "c1 sends del"}},
	} {
		t.Run(c.algorithm, func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, 1)
			args := append([]string{"--algorithm", c.algorithm}, c.args...)
			for _, kind := range []string{"--crashes", "--expiries", "--lost"} {
				if kind != c.fault {
					args = append(args, kind, "0")
				}
			}
			out := explored(t, t.TempDir(), exitKept, args...)
			for _, want := range c.story {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}

// TestExploreJSON: what programs read is what the file has, a line a lock.
func TestExploreJSON(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	out := explored(t, dir, exitKept, "--algorithm", "redis-setpx-lua,redis-setpx-del", "--acquisitions", "1", "--faults", "0", "--out", "e", "--json")
	var of []string
	for line := range strings.Lines(out) {
		var r, saved explore.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(rundir.ExploredOf(filepath.Join(dir, "e"), r.Plan.Algorithm), "explored.json"))
		if err != nil || json.Unmarshal(text, &saved) != nil || saved.Digest != r.Digest || saved.Orders() != r.Orders() {
			t.Errorf("%s, %v", text, err)
		}
		of = append(of, r.Plan.Algorithm)
	}
	if strings.Join(of, " ") != "redis-setpx-lua redis-setpx-del" {
		t.Errorf("of %q", of)
	}
}

// TestGateExplores: a gate explores what its file says, and judges what was explored: a break is named with
// the command that performs it again.
func TestGateExplores(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	const file = `run: {algorithms: redis-setpx-lua, faults: none, duration: 100ms}
explore:
  - run: {algorithm: redis-setpx-lua, acquisitions: 1, faults: 0}
    require: SAFE
  - run: {algorithm: redis-setpx-del, acquisitions: 1, crashes: 0, expiries: 0}
    FINDS
`
	write := func(name, finds string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Replace(file, "FINDS", finds, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("lockbench.yaml", "finds: [BROKEN]")
	write("strict.yaml", "require: CHECK")
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "gate", "--out", "out"))
	if code != exitKept || !strings.Contains(stdout, "The gate is open.") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "gate", "--config", "strict.yaml", "--junit", "j.xml", "--summary", "s.md", "out"))
	for _, want := range []string{"redis-setpx-del under every order: broken promise", "again: ", "explore --replay out/explored/redis-setpx-del/violations/"} {
		if code != exitBroke || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, no %q in\n%s%s", code, want, stdout, stderr)
		}
	}
	contains(t, filepath.Join(dir, "j.xml"), "redis-setpx-del under every order")
	contains(t, filepath.Join(dir, "s.md"), "redis-setpx-del under every order")
}

// TestExploreInterrupted: what was walked is kept, and the order that broke the lock is named first.
func TestExploreInterrupted(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	cmd := testkit.Command(t, dir, "explore", "--algorithm", "redis-setpx-del", "--budget", "100000", "--out", "out")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	told := false
	for said := bufio.NewScanner(stderr); said.Scan(); { // how far it is, which it may say once more before it ends
		if !told && (strings.Contains(said.Text(), " 1 breaks it") || strings.Contains(said.Text(), " break it")) {
			told = true
			_ = cmd.Process.Signal(os.Interrupt)
			time.Sleep(5 * time.Millisecond)
			_ = cmd.Process.Signal(os.Interrupt) // as timeout does, and means it once
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit code %d\n%s", code, stdout.String())
	}
	e, err := rundir.OpenExplored(filepath.Join(dir, "out"))
	if err != nil || !e.Interrupted || len(e.Violations) == 0 {
		t.Fatalf("%v: %+v\n%s", err, e, stdout.String())
	}
	for _, want := range []string{"  interrupted: of what was not walked nothing is known", "BROKEN by "} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
	contains(t, filepath.Join(dir, "out", e.Violations[0].Dir, rundir.PageFile), "Move by move")
}

func contains(t *testing.T, file string, wants ...string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has no %q", file, want)
		}
	}
}
