package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// TestOneInPieces: a matrix that was divided among three machines, of which one was
// interrupted and went on, and that was joined, has the same runs, of the same plans and
// seeds, as one that was done in one piece, and so the same cells.
func TestOneInPieces(t *testing.T) {
	t.Parallel()
	needLab(t, 4)
	dir := t.TempDir()
	matrix := func(out string, more ...string) []string {
		return append([]string{"matrix", "--algorithms", "none,redis-setpx-lua", "--faults", "none,pause-holder", "--runs", "2",
			"--jobs", "2", "--duration", "300ms", "--ttl", "500ms", "--seed", "4711", "--out", out}, more...)
	}
	whole := testkit.Command(t, dir, matrix("whole", "--json")...)
	var one bytes.Buffer
	whole.Stdout = &one
	if err := whole.Start(); err != nil {
		t.Fatal(err)
	}
	cut := testkit.Command(t, dir, matrix("s2", "--shard", "2/3", "--jobs", "1")...)
	if err := cut.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, time.Minute, func() error {
		if done, _ := filepath.Glob(filepath.Join(dir, "s2", "cells", "*", "*", "*", "results.json")); len(done) == 0 {
			return fs.ErrNotExist
		}
		return nil
	})
	testkit.Eventually(t, time.Minute, func() error { // into the next run
		if begun, _ := filepath.Glob(filepath.Join(dir, "s2", "cells", "*", "*", "*", "events", "w1.jsonl")); len(begun) < 2 {
			return fs.ErrNotExist
		}
		return nil
	})
	interrupted(t, cut)
	kept := plansOf(t, filepath.Join(dir, "s2"))
	for _, nth := range []string{"1/3", "3/3"} {
		if code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, matrix("s"+nth[:1], "--shard", nth)...)); code != exitKept {
			t.Errorf("shard %s: exit code %d\n%s%s", nth, code, stdout, stderr)
		}
	}
	if code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "matrix", "--resume", "s2")); code != exitKept {
		t.Errorf("resumed: exit code %d\n%s%s", code, stdout, stderr)
	}
	if err := whole.Wait(); err != nil {
		t.Errorf("in one piece: %v", err)
	}
	all := plansOf(t, filepath.Join(dir, "whole"))
	parts := map[string]history.Plan{}
	for _, s := range []string{"s1", "s2", "s3"} {
		for run, plan := range plansOf(t, filepath.Join(dir, s)) {
			if _, twice := parts[run]; twice {
				t.Errorf("%s is in two shards", run)
			}
			parts[run] = plan
		}
	}
	if len(all) != 8 || len(parts) != len(all) {
		t.Errorf("%d runs in one piece, %d in three", len(all), len(parts))
	}
	for run, plan := range all {
		if got, want := fixed(parts[run]), fixed(plan); got != want {
			t.Errorf("%s was planned as\n%s\nin one piece, and in a shard as\n%s", run, want, got)
		}
	}
	again := plansOf(t, filepath.Join(dir, "s2"))
	same := 0
	for run, plan := range kept {
		if plan.Made.Equal(again[run].Made) {
			same++
		}
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "s2", "aside", "*", "*", "*", "*", "plan.json")); same == 0 || len(aside) == 0 || same+len(aside) != len(kept) {
		t.Errorf("of the %d runs that were begun %d were kept and %d set aside", len(kept), same, len(aside))
	}
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "report", "--json", "s3", "s1", "s2"))
	if code != exitKept || strings.Contains(stderr, "not counted") {
		t.Errorf("joined: exit code %d\n%s", code, stderr)
	}
	if got, want := sameCells(t, []byte(stdout)), sameCells(t, one.Bytes()); !slices.Equal(got, want) {
		t.Errorf("joined\n%s\nin one piece\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// The same again, with what is known: nothing is counted twice.
	code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "report", "--json", "whole", "s1", "s2"))
	if got := sameCells(t, []byte(stdout)); code != exitKept || !strings.Contains(stderr, "in several directories and counted once") || !slices.Equal(got, sameCells(t, one.Bytes())) {
		t.Errorf("with itself: exit code %d\n%s\n%s", code, stderr, strings.Join(got, "\n"))
	}
	// A gate wants all shards, and takes what two directories have for one.
	if code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "gate", "whole", "s1", "s2", "s3")); code != exitKept || strings.Contains(stdout, "4 runs") {
		t.Errorf("the gate: exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "gate", "s1", "s3")); code != exitUndecided || !strings.Contains(stdout, "1 of 2 runs not done") {
		t.Errorf("the gate of two shards: exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "report", "s1", "s2", "s3")); code != exitKept || stdout != rundir.PageFile+"\n" {
		t.Errorf("the page: exit code %d\n%s%s", code, stdout, stderr)
	}
}

// plansOf are the plans of all runs of a matrix, by their places in it.
func plansOf(t *testing.T, dir string) map[string]history.Plan {
	t.Helper()
	m, err := rundir.OpenMatrix(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, damaged := m.Runs()
	if len(damaged) > 0 {
		t.Fatal(damaged)
	}
	plans := map[string]history.Plan{}
	for _, r := range runs {
		at, err := m.Rel(r)
		if err != nil {
			t.Fatal(err)
		}
		plans[at] = r.Plan
	}
	return plans
}

// fixed is what of a plan does not depend on who does it, and when.
func fixed(p history.Plan) string {
	p.Made, p.Machine, p.Jobs = time.Time{}, nil, 0
	text, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// sameCells is what of the cells is decided by the locks and the faults, and not by the
// moment.
func sameCells(t *testing.T, printed []byte) (says []string) {
	t.Helper()
	var file rundir.MatrixFile
	if err := json.Unmarshal(printed, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cells {
		says = append(says, fmt.Sprintf("%s × %s: %s (%s), promise %s, %d runs of %d, share %v, seed %d, run %s", c.Algorithm, c.Fault, c.Outcome, c.Mechanism,
			c.Promise, c.Runs, cmp.Or(c.Planned, file.Planned), c.Share, c.Seed, filepath.Base(c.Dir)))
	}
	return says
}
