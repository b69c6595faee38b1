package cli

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/kubernetes"
	"github.com/lockbench/lockbench/internal/progress"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// podArgs are those that the pods of a matrix with these flags are started with.
func podArgs(t *testing.T, flags ...string) []string {
	t.Helper()
	code, manifest, stderr := testkit.Ran(t, testkit.Command(t, t.TempDir(), append([]string{"matrix", "--on", "kubernetes", "--dry-run"}, flags...)...))
	if code != exitKept {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	job, err := kubernetes.Decode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	args, err := kubernetes.Args(job)
	if err != nil {
		t.Fatal(err)
	}
	return args
}

// pod is what a cluster starts, without a cluster.
func pod(t *testing.T, index int, args []string) *exec.Cmd {
	t.Helper()
	cmd := testkit.Command(t, t.TempDir(), args...)
	cmd.Env = append(cmd.Env, fmt.Sprint("JOB_COMPLETION_INDEX=", index))
	return cmd
}

// TestPod: what a pod is started with does its shard, tells of it in lines, hands it over and ends
// when it may.
func TestPod(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	args := podArgs(t, "--algorithms", "none", "--faults", "none", "--runs", "3", "--duration", "300ms", "--shards", "2", "--jobs", "1")
	cmd := pod(t, 0, args)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var lines []news
	for s := bufio.NewScanner(stdout); s.Scan() && !strings.Contains(s.Text(), "waits"); {
		var line news
		if err := json.Unmarshal(s.Bytes(), &line); err != nil {
			t.Errorf("%s: %v", s.Text(), err)
		}
		lines = append(lines, line)
	}
	var says []string
	for _, l := range lines {
		says = append(says, fmt.Sprintf("run %d, ended %t, whole %t, %d of %d", l.Run, l.Cell != nil, l.Whole, l.Done, l.Total))
	}
	if got := strings.Join(says, "; "); got != "run 1, ended false, whole false, 0 of 2; run 1, ended true, whole false, 1 of 2; run 3, ended false, whole false, 1 of 2; run 3, ended true, whole true, 2 of 2" {
		t.Errorf("it told %s", got)
	}
	handOver := testkit.Command(t, cmd.Dir, kubernetes.HandOverVerb)
	packed, err := handOver.StdoutPipe()
	if err == nil {
		err = handOver.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	names := namesIn(t, packed)
	if err := handOver.Wait(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"matrix.json", "cells/none/none/1/plan.json", "cells/none/none/3/results.json", "cells/none/none/3/events/w1.jsonl"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not handed over: %v", name, names)
		}
	}
	if code, _, stderr := testkit.Ran(t, testkit.Command(t, cmd.Dir, kubernetes.EndVerb, "collected")); code != exitKept {
		t.Errorf("end: exit code %d\n%s", code, stderr)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it may end, and it ended with %v", err)
	}
	again := cmd.Dir
	cmd = pod(t, 0, args)
	cmd.Dir = again
	if code, _, _ := testkit.Ran(t, cmd); code != exitKept {
		t.Errorf("exit code %d of a pod whose shard is collected", code)
	}
}

func namesIn(t *testing.T, packed io.Reader) (names []string) {
	t.Helper()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
}

// TestPodRefuses: a pod does nothing that is not planned, and ends when it is told to.
func TestPodRefuses(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	args := podArgs(t, "--algorithms", "none", "--faults", "none", "--shards", "2")
	other := slices.Clone(args)
	for i, a := range other {
		if strings.HasPrefix(a, "--planned=") {
			other[i] = "--planned=0123456789abcdef"
		}
	}
	for want, cmd := range map[string]*exec.Cmd{
		"plans other runs than the one that made the job": pod(t, 0, other),
		"shard 3/2: there are not so many":                pod(t, 2, args),
	} {
		if code, stdout, stderr := testkit.Ran(t, cmd); code != exitUsage || !strings.Contains(stderr, want) || stdout != "" {
			t.Errorf("%s: exit code %d\n%s%s", want, code, stdout, stderr)
		}
		if left, err := os.ReadDir(cmd.Dir); err != nil || len(left) > 0 {
			t.Errorf("%s: it left %v, %v", want, left, err)
		}
	}
	cmd := pod(t, 1, podArgs(t, "--algorithms", "none", "--faults", "none", "--shards", "2", "--duration", "1h"))
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if s := bufio.NewScanner(stdout); !s.Scan() {
		t.Error("it told nothing")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("told to end, it ended with %v", cmd.ProcessState)
	}
}

// TestTogether: what shards tell adds up, in whatever order and however often they tell it, and
// what a pod that died has told does not count.
func TestTogether(t *testing.T) {
	var out strings.Builder
	w := newWatch(progress.New(&out), 0, 0)
	defer w.close()
	m := &run.Matrix{Runs: 3}
	planned := &rundir.Matrix{MatrixFile: rundir.MatrixFile{Cells: []checker.Cell{{Algorithm: "A", Fault: "f"}, {Algorithm: "B", Fault: "f", Outcome: lb.NotAvailable}}}}
	all := newTogether(w, m, planned, 2)
	tell := func(shard int, n news) {
		t.Helper()
		line, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		all.line(shard, line)
	}
	stands := func(want string) {
		t.Helper()
		if got := fmt.Sprintf("%d of %d, %d now, %s", w.done, w.total, len(w.now), w.found()); got != want {
			t.Errorf("%s, and not %s", got, want)
		}
	}
	safe := &checker.Cell{Algorithm: "A", Fault: "f", Outcome: lb.Safe, Runs: 1, Promise: checker.PromiseBroken} // a known break, which the others show
	broken := &checker.Cell{Algorithm: "A", Fault: "f", Outcome: lb.Broken, Runs: 1, Promise: checker.PromiseKept}
	tell(0, news{Algorithm: "A", Fault: "f", Run: 1, Total: 2})
	stands("0 of 3, 1 now, nothing yet")
	tell(1, news{Algorithm: "A", Fault: "f", Run: 2, Total: 1})
	tell(1, news{Algorithm: "A", Fault: "f", Run: 2, Cell: broken, Whole: true, Done: 1, Total: 1})
	stands("1 of 3, 1 now, 1 BROKEN")
	tell(0, news{Algorithm: "A", Fault: "f", Run: 1, Cell: safe, Done: 1, Total: 2})
	tell(0, news{Algorithm: "A", Fault: "f", Run: 1, Total: 2}) // the log from its beginning
	tell(0, news{Algorithm: "A", Fault: "f", Run: 1, Cell: safe, Done: 1, Total: 2})
	tell(0, news{Algorithm: "A", Fault: "f", Run: 3, Done: 1, Total: 2})
	stands("2 of 3, 1 now, 1 BROKEN")
	all.again(0)
	stands("2 of 3, 0 now, 1 BROKEN")
	tell(0, news{Algorithm: "A", Fault: "f", Run: 1, Total: 2})
	stands("1 of 3, 1 now, 1 BROKEN")
	both := *safe
	both.Runs = 2
	tell(0, news{Algorithm: "A", Fault: "f", Run: 3, Cell: &both, Whole: true, Done: 2, Total: 2})
	tell(0, news{Algorithm: "A", Fault: "f", Run: 3, Cell: &both, Whole: true, Done: 2, Total: 2})
	all.line(0, []byte("{nonsense"))
	all.line(0, []byte(`{"waits":true}`))
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "[3/3] A × f: BROKEN") || strings.Contains(got, "promise") {
		t.Errorf("said: %q", got)
	}
}
