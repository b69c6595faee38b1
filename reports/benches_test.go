package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
)

// sampleBenches are the directories of two benchmarks, which differ in the machine, in a lock
// and in what it cost; the second has an open loop.
func sampleBenches(t *testing.T) (dir string, dirs []string) {
	t.Helper()
	dir = t.TempDir()
	dirs = []string{filepath.Join(dir, "here"), filepath.Join(dir, "there")}
	saved(t, dirs[0], sampleBench())
	b := sampleBench()
	b.Plan.Machine = &history.Machine{System: "linux/arm64", Cores: 64}
	b.Plan.Versions = map[string]string{"redis-server": "v=8.0.1"}
	b.Plan.Algorithms = append(b.Plan.Algorithms, "redis-mine")
	b.Plan.Rate, b.Noise = 250, nil
	b.Cell(cost.Uncontended("redis-mine", cost.Disk), "redis").Add(0, cost.Cycle, 321_000)
	b.Cell(cost.Key{Algorithm: "redis-mine", Servers: cost.Disk, Loop: cost.Open, Clients: cost.Contenders, Locks: 1}, "redis").Add(0, cost.P50, 654_000)
	saved(t, dirs[1], b)
	return dir, dirs
}

// TestBenchesTogether: the page and the summary of several benchmarks compare them, say in
// what they differ, and have all of each.
func TestBenchesTogether(t *testing.T) {
	dir, dirs := sampleBenches(t)
	path, err := Joined(dirs, filepath.Join(dir, "all.html"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var md bytes.Buffer
	if err := Markdown(&md, dirs...); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"page": string(page), "summary": md.String()} {
		for _, want := range []string{
			"here, disk", "there, disk", "here, memory", "there, memory", "321 µs", "654 µs",
			"At a rate of 250/s", "here: The machine was not quiet", "Machine: linux/arm64, 64 cores, redis-server 8.0.1", "Machine: linux/amd64, 2 cores",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s lacks %q", name, want)
			}
		}
		for want, n := range map[string]int{"16 clients want it: how fast": 2, "there: The machine": 0, "The disk: a write of 4 KiB": 2, "Seed:": 0} {
			if got := len(regexp.MustCompile(`(>|\*\*|\||\n) *`+regexp.QuoteMeta(want)).FindAllString(text, -1)); got != n {
				t.Errorf("%d times %q on the %s, and not %d", got, want, name, n)
			}
		}
	}
	if !strings.Contains(md.String(), "| redis-mine | - |  | 321 µs | ? | - |  | - |  |") {
		t.Errorf("not side by side:\n%s", md.String())
	}
	for _, name := range []string{"sides-disk-cycle", "sides-memory-crowd", "1-cycle", "2-cycle", "2-handoff-redis"} {
		if _, err := os.Stat(filepath.Join(dir, rundir.PlotsDir, name+".svg")); err != nil {
			t.Error(err)
		}
	}
}

// TestNamesOfBenches: their directories, as short as tells them apart.
func TestNamesOfBenches(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ dirs, names []string }{
		{[]string{"a"}, []string{""}},
		{[]string{"a", "b/bench"}, []string{"a", "bench"}},
		{[]string{"a/bench", "b/bench"}, []string{filepath.Join(dir, "a/bench"), filepath.Join(dir, "b/bench")}},
	} {
		var dirs, names []string
		for _, d := range c.dirs {
			d = filepath.Join(dir, d)
			if _, err := os.Stat(d); err != nil {
				saved(t, d, sampleBench())
			}
			dirs = append(dirs, d)
		}
		list, rest, err := benchesIn(dirs)
		for _, b := range list {
			names = append(names, b.name)
		}
		if err != nil || len(rest) > 0 || !slices.Equal(names, c.names) {
			t.Errorf("%q are called %q, %q, %v", dirs, names, rest, err)
		}
	}
}

// TestDamagedAmongBenches: a benchmark that can't be read is told of, and hides no other that
// lies in a matrix; one by itself is an error.
func TestDamagedAmongBenches(t *testing.T) {
	dir, dirs := sampleBenches(t)
	matrix := filepath.Join(dir, "matrix")
	writeMatrix(t, matrix, sampleCells()[:2], 1)
	if err := os.WriteFile(filepath.Join(matrix, "bench.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	path, err := Joined(append(dirs, matrix), filepath.Join(dir, "all.html"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(page), "Another benchmark could not be read: ") || !strings.Contains(string(page), "there, disk") {
		t.Errorf("the page hides something: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dirs[0], "bench.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Joined(dirs, filepath.Join(dir, "all.html")); err == nil || !strings.Contains(err.Error(), "here") {
		t.Errorf("a damaged benchmark: %v", err)
	}
}

// TestDifferences: what all have in common is none, nor is the seed.
func TestDifferences(t *testing.T) {
	made := func(name string, seed uint64, ttl time.Duration, versions map[string]string) namedBench {
		return namedBench{name: name, Bench: &cost.Bench{Rounds: 3, Plan: cost.Plan{Rounds: 3, Seed: seed, TTL: ttl, Versions: versions}}}
	}
	same := map[string]string{"go": "1.26.8", "etcd": "3.7.3"}
	got := differences([]namedBench{
		made("a", 1, time.Second, same),
		made("b", 2, time.Second, map[string]string{"go": "1.26.8", "etcd": "3.6.0"}),
		made("c", 3, time.Second, same),
	})
	want := []sideFacts{{"a", "etcd 3.7.3"}, {"b", "etcd 3.6.0"}, {"c", "etcd 3.7.3"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q instead of %q", got, want)
	}
	none := "nothing is known that the others have not"
	if got := differences([]namedBench{made("a", 1, time.Second, same), made("b", 2, time.Second, same)}); got[0].Facts != none {
		t.Errorf("%q", got)
	}
	plain, other := made("a", 1, time.Second, same), made("b", 1, time.Second, same)
	other.Plan.Lab, other.Plan.Addrs = "external", "10.0.0.5:2379"
	other.Plan.Short, other.Plan.Rate, other.Plan.Budget = true, 250, time.Minute
	other.Plan.Distances = []time.Duration{time.Millisecond, 10 * time.Millisecond}
	other.Cores = &cost.Cores{Clients: []int{1}, Servers: []int{2, 3}}
	want = []sideFacts{{"a", none}, {"b", "Budget: 60.0 s, Distances (--latency): 1ms 10ms, Curves: left out (--short), Rate of the open loop: 250/s, " +
		"Cores: clients on core 1, servers on cores 2, 3, Lab: external (10.0.0.5:2379)"}}
	if got := differences([]namedBench{plain, other}); !slices.Equal(got, want) {
		t.Errorf("%q instead of %q", got, want)
	}
}
