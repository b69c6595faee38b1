package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// TestBench measures two locks on real servers, and one that panics: it has no figures,
// and the others have theirs.
func TestBench(t *testing.T) {
	t.Parallel()
	needLab(t, 2)
	dir := t.TempDir()
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "bench", "--json", "--short", "--algorithms", "redis-setpx-lua,mysql-getlock,panics",
		"--rounds", "2", "--budget", "6s", "--ttl", "2s", "--latency", "50ms", "--out", "b"))
	var b cost.Bench
	if err := json.Unmarshal([]byte(stdout), &b); err != nil || code != exitUndecided {
		t.Fatalf("exit code %d, %v\n%s", code, err, stderr)
	}
	if !b.Done() || b.Plan.Baseline != "redis-setpx-lua" || len(b.Sync) == 0 {
		t.Fatalf("%d rounds, baseline %s, disk %v\n%s", b.Rounds, b.Plan.Baseline, b.Sync, stderr)
	}
	if got, want := fmt.Sprint(b.Plan.Groups), "map[mysql-getlock:MySQL redis-setpx-lua:Redis]"; got != want {
		t.Errorf("titles: %s, want %s", got, want)
	}
	for _, lock := range []string{"redis-setpx-lua", "mysql-getlock"} {
		for _, s := range []cost.Servers{cost.Disk, cost.Memory} {
			one, all := b.Find(cost.Uncontended(lock, s)), b.Find(cost.Contended(lock, s))
			for _, m := range []cost.Measure{cost.Cycle, cost.Floor, cost.Writes, cost.Requests} {
				if f := one.Figures[m]; f == nil || len(f.Values) < 2 || f.Median <= 0 {
					t.Errorf("%s: %s: %+v (%s)", one.Key, m, f, one.Failed)
				}
			}
			for _, m := range []cost.Measure{cost.Grants, cost.Requests, cost.Bytes, cost.Packets, cost.Resident, cost.ClientNS} {
				if f := all.Figures[m]; f == nil || f.Median <= 0 {
					t.Errorf("%s: %s: %+v (%s)", all.Key, m, f, all.Failed)
				}
			}
		}
		if c := b.Find(cost.Uncontended(lock, cost.Disk)); c.Figures[cost.Outage] == nil {
			t.Errorf("%s: no outage: %s", lock, c.Failed)
		}
	}
	if c := b.Find(cost.Uncontended("panics", cost.Disk)); !strings.Contains(c.Failed, "a bug of the lock") || len(c.Figures) > 0 {
		t.Errorf("%q, %v", c.Failed, c.Figures)
	}
	if runtime.NumCPU() > 1 { // clients and servers are apart, and what that is worth was measured
		if b.Cores == nil || b.Cores.Left+b.Cores.Asleep != "" || len(b.Cores.Clients) == 0 || len(b.Cores.Servers) == 0 || b.Figure(cost.Uncontended("redis-setpx-lua", cost.Memory), cost.Asleep) == nil {
			t.Errorf("cores: %+v", b.Cores)
		}
	}
	farAway(t, &b)
	for _, left := range []string{rundir.PageFile, rundir.BenchText, "plots/cycle.svg", "plots/cycle-far.svg"} {
		if _, err := os.Stat(filepath.Join(dir, "b", left)); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "b", "data")); err == nil {
		t.Error("the servers' data is left behind")
	}
	if code, stdout, _ := testkit.Ran(t, testkit.Command(t, dir, "report", "--markdown", "b")); code != exitKept || !strings.Contains(stdout, "What does it cost?") {
		t.Errorf("report: exit code %d\n%s", code, stdout)
	}
	if code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "bench", "--algorithms", "none", "--out", "b")); code != exitUsage || !strings.Contains(stderr, "never writes over another") {
		t.Errorf("over another: exit code %d\n%s", code, stderr)
	}
	if code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "check", "b")); code != exitUsage || !strings.Contains(stderr, "is the directory of a benchmark: it has no history") {
		t.Errorf("check: exit code %d\n%s", code, stderr)
	}
}

// farAway wants a cycle of at least its round trips at the distance, and of much less near by.
func farAway(t *testing.T, b *cost.Bench) {
	t.Helper()
	const away = 50 * time.Millisecond
	if len(b.Far) != 2 || b.Far[0].RoundTrip != 0 || b.Far[1].RoundTrip != away {
		t.Fatalf("far: %+v", b.Far)
	}
	near, far := b.Far[0].Bench(b), b.Far[1].Bench(b)
	for _, lock := range []string{"redis-setpx-lua", "mysql-getlock"} {
		for m, trips := range map[cost.Measure]float64{cost.Floor: 1, cost.Cycle: 2} {
			k := cost.Uncontended(lock, cost.Memory)
			f := far.Figure(k, m)
			if n := near.Figure(k, m); f == nil || n == nil || f.Median < trips*float64(away) || n.Median > f.Median-trips*float64(away)/2 {
				t.Errorf("%s: %s: %+v, near by %+v (%s, %s)", lock, m, f, n, b.Far[1].Failed, far.Find(k).Failed)
			}
		}
		if f := far.Figure(cost.Contended(lock, cost.Memory), cost.HandOffs); f == nil || f.Median <= 0 || f.Median > 1.1*float64(time.Second/away) { // a window has one more than its length says
			t.Errorf("%s: hand-offs: %+v", lock, f)
		}
	}
}

// TestDistances: what can't be is refused before anything is measured.
func TestDistances(t *testing.T) {
	for args, says := range map[string]string{
		"--latency 10ms,1ms":                       "the shortest first",
		"--latency 1ms,1ms":                        "each once",
		"--latency 10us":                           "each from 100µs to 200ms",
		"--latency 250ms":                          "each from 100µs to 200ms",
		"--latency 1ms,2ms,3ms,4ms,5ms":            "at most 4",
		"--latency 1ms --lab docker":               "can't put servers far away",
		"--latency 1ms --lab external --addrs a:1": "they are where they are",
	} {
		code, _, stderr := testkit.Ran(t, testkit.Command(t, t.TempDir(), append([]string{"bench", "--algorithms", "redis-setpx-lua"}, strings.Fields(args)...)...))
		if code != exitUsage || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit code %d: %s", args, code, stderr)
		}
	}
}

// TestCutBench interrupts a benchmark: what was measured until then is there, and says
// that it is not all.
func TestCutBench(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	dir := t.TempDir()
	cmd := testkit.Command(t, dir, "bench", "--short", "--algorithms", "redis-setpx-lua", "--rounds", "100", "--budget", "60s", "--out", "b")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, time.Minute, func() error {
		d, err := rundir.OpenBench(filepath.Join(dir, "b"))
		if err == nil && d.Bench.Rounds == 0 {
			err = os.ErrNotExist
		}
		return err
	})
	interrupted(t, cmd)
	d, err := rundir.OpenBench(filepath.Join(dir, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if n := d.Bench.Rounds; n == 0 || n >= 100 || d.Bench.Figure(cost.Uncontended("redis-setpx-lua", cost.Disk), cost.Cycle) == nil {
		t.Errorf("%d rounds", n)
	}
	if i := slices.IndexFunc(d.Bench.Noise, func(s string) bool { return strings.HasPrefix(s, "after ") }); i >= 0 {
		t.Errorf("nobody looks at the machine after an interrupt: %s", d.Bench.Noise[i])
	}
	text, err := os.ReadFile(filepath.Join(dir, "b", rundir.PageFile))
	if err != nil || !strings.Contains(string(text), "of 100 rounds were done") {
		t.Errorf("the page does not say that it was interrupted: %v", err)
	}
	if _, err := os.Stat(d.DataDir()); err == nil {
		t.Error("the servers' data is left behind")
	}
}
