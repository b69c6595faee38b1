package reports

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
)

// sampleBench is a benchmark of locks of every kind: one that has it all, one without
// servers, one that failed, one that never comes back after a death.
func sampleBench() *cost.Bench {
	b := &cost.Bench{Schema: history.Schema, Rounds: 6,
		Plan: cost.Plan{Algorithms: []string{"none", "redis-setpx-lua", "redis-fenced", "etcd-v3lock", "a-lock-with-a-name-that-is-long"}, Baseline: "redis-setpx-lua",
			Groups: sampleGroups, Lab: "local", Seed: 5, Rounds: 6, TTL: 2 * time.Second, Machine: &history.Machine{System: "linux/amd64", Cores: 2}},
		Noise: []string{"in 1 of 6 rounds others were busy, at most 30% of the processors"},
		Sync:  []cost.Quantile{{Q: .5, At: 200 * time.Microsecond}, {Q: .99, At: 3 * time.Millisecond}, {Q: 1, At: 9 * time.Millisecond}},
	}
	for n, lock := range b.Plan.Algorithms[:4] {
		for _, s := range []cost.Servers{cost.Disk, cost.Memory} {
			if lock == "none" && s == cost.Disk {
				continue
			}
			slow := float64(n + 1)
			if s == cost.Disk {
				slow *= 10
			}
			one, all := b.Cell(cost.Uncontended(lock, s), "etcd"), b.Cell(cost.Contended(lock, s), "etcd")
			l := cost.NewLatencies()
			for round := range 6 {
				wave := 1 + .02*float64(round%3)
				one.Add(round, cost.Cycle, 60_000*slow*wave)
				one.Add(round, cost.Grants, 1e9/(60_000*slow*wave))
				one.Add(round, cost.Requests, 2)
				all.Add(round, cost.Grants, 9000/slow*wave)
				all.Add(round, cost.HandOffs, 8000/slow*wave)
				all.Add(round, cost.P50, 90_000*slow)
				all.Add(round, cost.P99, 900_000*slow)
				all.Add(round, cost.Longest, 9_000_000*slow)
				all.Add(round, cost.Barges, .1*float64(n))
				all.Add(round, cost.Overlaps, 0)
				all.Add(round, cost.Fair, 1/slow)
				all.Add(round, cost.Requests, 2.5)
				all.Add(round, cost.WakeUps, 1.25)
				if lock != "none" {
					one.Add(round, cost.Floor, 20_000)
					one.Add(round, cost.Writes, 45_000*slow/float64(n+1))
					all.Add(round, cost.Bytes, 1234)
					all.Add(round, cost.Packets, 9)
					all.Add(round, cost.ServerNS, 70_000)
					all.Add(round, cost.Resident, 15e6)
				}
				for i := range 100 {
					l.Add(time.Duration(float64(i*1000) * slow))
				}
			}
			all.AddLatencies(l)
			b.Cell(cost.Key{Algorithm: lock, Servers: s, Loop: cost.Closed, Clients: cost.Contenders, Locks: cost.Apart}, "etcd").Add(0, cost.Grants, 30000/slow)
			for _, clients := range []int{2, 4, 8} {
				b.Cell(cost.Key{Algorithm: lock, Servers: s, Loop: cost.Closed, Clients: clients, Locks: 1}, "etcd").Add(0, cost.Grants, 5000/slow)
			}
			if lock == "etcd-v3lock" {
				one.Never = 3
			} else {
				one.Add(0, cost.Outage, 1.8e9)
			}
		}
	}
	failed := b.Cell(cost.Contended("a-lock-with-a-name-that-is-long", cost.Disk), "etcd")
	failed.Fail(os.ErrDeadlineExceeded)
	failed.Fail(os.ErrDeadlineExceeded)
	return b
}

func TestGoldenBench(t *testing.T) {
	var table, md bytes.Buffer
	b := sampleBench()
	if err := Bench(&table, b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(table.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > benchWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	golden(t, "bench.txt", table.Bytes())
	if err := benchMarkdown(&md, []namedBench{{Bench: b}}); err != nil {
		t.Fatal(err)
	}
	golden(t, "bench.md", md.Bytes())
}

// saved is the directory of a benchmark.
func saved(t *testing.T, dir string, b *cost.Bench) {
	t.Helper()
	d, err := rundir.CreateBench(dir, b.Plan)
	if err == nil {
		d.Bench = b
		err = d.Save()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestBenchPage: a benchmark alone has a page of its own, with its plots, which opens
// offline.
func TestBenchPage(t *testing.T) {
	dir := t.TempDir()
	saved(t, dir, sampleBench())
	path, err := HTML(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"20.0 µs here; 368 µs on average", "What does a distributed lock cost?", "others were busy", "<td class=\"n\">never</td>", "6 of 6", "i/o timeout", "Fairness.", "2 times, the first: "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(string(text), "http") {
		t.Error("the page loads something")
	}
	for _, plot := range []string{"cycle", "fairness", "handoff-redis", "contenders-redis"} {
		for _, format := range []string{".svg", ".png"} {
			if _, err := os.Stat(filepath.Join(dir, rundir.PlotsDir, plot+format)); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestMatrixPageCost: a matrix's page takes the cost from a benchmark in its directory,
// and without one says that it knows none, or why it can't be read.
func TestMatrixPageCost(t *testing.T) {
	dir := t.TempDir()
	if _, err := rundir.CreateMatrix(dir, []checker.Cell{{Algorithm: "A", Fault: "none"}, {Algorithm: "B", Fault: "none"}}, 1); err != nil {
		t.Fatal(err)
	}
	says := func(want string) {
		t.Helper()
		path, err := HTML(dir)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q (%v)", want, err)
		}
	}
	says("Nothing is known of the cost: there is no benchmark in this directory.")
	saved(t, dir, sampleBench())
	says("Acquire and release, when nobody else wants it")
	if err := os.WriteFile(filepath.Join(dir, "bench.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	says("The benchmark could not be read: ")
}

// TestJoinedBench: the page and the summary of several directories have the benchmark that
// is one of them, whichever that is, and what is wrong with it.
func TestJoinedBench(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"m1", "m2"} {
		if _, err := rundir.CreateMatrix(in(name), []checker.Cell{{Algorithm: "A", Fault: "none"}}, 1); err != nil {
			t.Fatal(err)
		}
	}
	saved(t, in("b"), sampleBench())
	for _, dirs := range [][]string{{in("m1"), in("m2"), in("b")}, {in("b"), in("m1")}} {
		var md bytes.Buffer
		path, err := Joined(dirs, in("all.html"))
		if err == nil {
			err = Markdown(&md, dirs...)
		}
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(page), md.String()} {
			for _, want := range []string{"Which lock can I trust, under what?", "not run", "cquire and release, when nobody else wants it"} {
				if !strings.Contains(text, want) {
					t.Errorf("of %q: no %q in\n%.2000s", dirs, want, text)
				}
			}
		}
	}
	if err := os.WriteFile(filepath.Join(in("b"), "bench.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{Markdown(&bytes.Buffer{}, in("b")), func() error { _, err := Joined([]string{in("b")}, in("all.html")); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "bench.json") {
			t.Errorf("a damaged benchmark: %v", err)
		}
	}
}

// TestInterruptedBench claims no more than was measured.
func TestInterruptedBench(t *testing.T) {
	b := sampleBench()
	b.Rounds = 2
	if got := benchRemarks(b); got[0] != "Not finished: 2 of 6 rounds were done." {
		t.Errorf("%q", got)
	}
	b.Plan.Programs = []string{"one", "two"}
	turns := func() string {
		got := benchRemarks(b)
		return strings.SplitAfter(got[len(got)-1], ". ")[2]
	}
	b.Rounds, b.Programs = 0, 1
	if got := turns(); !strings.HasPrefix(got, "1 of 2 had one turn in front of the rounds") {
		t.Errorf("%q", got)
	}
	b.Rounds, b.Programs = 2, 0 // of an older lockbench
	if got := turns(); !strings.HasPrefix(got, "They had one turn in front of the rounds") {
		t.Errorf("%q", got)
	}
	none := &cost.Bench{Plan: b.Plan}
	var out bytes.Buffer
	if err := Bench(&out, none); err != nil || !strings.HasPrefix(out.String(), "No round was done: there are no figures.") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestMargin: one value has no margin, a few have one without confidence.
func TestMargin(t *testing.T) {
	var f cost.Figure
	for n, want := range []string{" ?", " 5%?", " 9%?"} {
		f.Add(n, 100+10*float64(n))
		if got := margin(&f); got != want {
			t.Errorf("of %v: %q instead of %q", f.Values, got, want)
		}
	}
}

// TestOutageOf: a lock that came back after some deaths did not stay away for ever.
func TestOutageOf(t *testing.T) {
	some := &cost.Figure{}
	some.Add(0, 1.7e9)
	some.Add(2, 1.9e9)
	for _, c := range []struct {
		f     *cost.Figure
		never int
		want  string
	}{{nil, 0, "-"}, {some, 0, "1.80 s"}, {nil, 3, "never"}, {some, 1, "1.80 s, 1/3 never"}} {
		if got := outageOf(c.f, c.never); got != c.want {
			t.Errorf("%q instead of %q", got, c.want)
		}
	}
	b := sampleBench()
	b.Find(cost.Uncontended("redis-fenced", cost.Disk)).Never = 2
	var out bytes.Buffer
	if err := Bench(&out, b); err != nil || !strings.Contains(out.String(), " 1.80 s, 2/3 never\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestNeedsOfDisk: what could not be measured with the disk is missing. The figures without
// it are no substitute.
func TestNeedsOfDisk(t *testing.T) {
	b := sampleBench()
	for _, k := range []cost.Key{cost.Uncontended("redis-fenced", cost.Disk), cost.Contended("redis-fenced", cost.Disk)} {
		b.Find(k).Figures = nil
	}
	tables := benchTables(b)
	for _, c := range tables[2].Columns {
		if got := c.show("redis-fenced"); got != absent {
			t.Errorf("%s: %s", c.Head, got)
		}
	}
	if got := tables[2].Columns[1].show("none"); got != "2.50" {
		t.Errorf("without servers: %s", got)
	}
}

// TestGivenServers: of servers that somebody lent nothing is said of what they keep.
func TestGivenServers(t *testing.T) {
	b := sampleBench()
	says := func() (text string) {
		for _, g := range benchPlots(b) {
			text += g.Intro
		}
		return text + (&view{bench: b}).CostServers()
	}
	if s := says(); strings.Count(s, "disk") < 2 {
		t.Errorf("of the lab's own: %s", s)
	}
	b.Plan.Addrs = "127.0.0.1:6379"
	for _, c := range b.Cells {
		c.Servers = cost.Given
	}
	if s := says(); !strings.Contains(s, "With 16 clients: ") || strings.Contains(s, "disk") {
		t.Errorf("of borrowed ones: %s", s)
	}
	page := func(list ...namedBench) string {
		path, err := writePage(filepath.Join(t.TempDir(), "page.html"), "bench-page", newBenchView(list))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, reading, _ := strings.Cut(string(text), `id="bench-reading"`)
		return strings.Join(benchOthers(list[0].Bench), " ") + reading
	}
	own, given := sampleBench(), b
	for _, c := range []struct {
		list        []namedBench
		says, hides []string
	}{
		{[]namedBench{{Bench: own}}, []string{"one member", "<b>disk</b>: what", "Servers and clients share one machine", "all locks had their turn, but for those that had hung before"}, []string{"somebody else"}},
		{[]namedBench{{Bench: given}}, []string{"<b>given</b>: the servers are somebody else’s.", "all clients are on one machine"}, []string{"one member", "<b>disk</b>", "share one machine"}},
		{[]namedBench{{Bench: given, name: "a"}, {Bench: own, name: "b"}}, []string{"<b>given</b>: the", "Servers of <b>disk</b> and <b>memory</b> and clients share one machine"}, []string{"one member"}},
	} {
		text := page(c.list...)
		for _, s := range append(c.says, c.hides...) {
			if strings.Contains(text, s) != slices.Contains(c.says, s) {
				t.Errorf("%q, of %d benchmarks, in %s", s, len(c.list), text)
			}
		}
	}
}

// TestOpenTable: an open loop has a table of its own, which fits; without one there is none.
func TestOpenTable(t *testing.T) {
	b := sampleBench()
	if n := len(benchTables(b)); n != 3 {
		t.Errorf("%d tables without an open loop", n)
	}
	b.Plan.Rate = 1e6
	c := b.Cell(cost.Key{Algorithm: "redis-fenced", Servers: cost.Disk, Loop: cost.Open, Clients: cost.Contenders, Locks: 1}, "redis")
	waits := cost.NewLatencies()
	waits.Add(4 * time.Millisecond)
	waits.Add(5 * time.Second)
	c.Add(0, cost.Grants, 123)
	c.Add(0, cost.P50, 4e6)
	c.Add(0, cost.P99, 8e6)
	c.Add(0, cost.Longest, 7e6) // since the call: of no interest here
	c.AddLatencies(waits)
	var out bytes.Buffer
	if err := Bench(&out, b); err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(out.String(), "At a rate of 1000000/s")
	if !found {
		t.Fatalf("no table:\n%s", out.String())
	}
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > benchWidth {
			t.Errorf("%d columns: %s", n, line)
		}
		if words := strings.Fields(line); len(words) > 0 {
			rows[words[0]] = strings.Join(words[1:], " ")
		}
	}
	for lock, want := range map[string]string{"redis-fenced": "123 4.00 ms 8.00 ms 5.00 s - - - -", "none": "- - - - - - - -"} {
		if rows[lock] != want {
			t.Errorf("%s: %q instead of %q", lock, rows[lock], want)
		}
	}
	v, err := newBenchPage([]namedBench{{Bench: b}}, "", true)
	if err != nil {
		t.Fatal(err)
	}
	path, err := writePage(filepath.Join(t.TempDir(), "page.html"), "bench-page", v)
	if err != nil {
		t.Fatal(err)
	}
	if page, err := os.ReadFile(path); err != nil || !strings.Contains(string(page), "At a rate of 1000000/s") {
		t.Errorf("not on the page: %v", err)
	}
}

// TestFar: each distance has its columns and a dot in the plots, and what a reader takes home is of the locks that
// were measured at it.
func TestFar(t *testing.T) {
	b := sampleBench()
	for n, away := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond} {
		far := &cost.Far{RoundTrip: away, Rounds: 3}
		in := &cost.Bench{}
		for i, lock := range []string{"redis-setpx-lua", "redis-fenced", "etcd-v3lock"} {
			if n == 2 && i == 2 {
				continue // it failed there
			}
			one, all := in.Cell(cost.Uncontended(lock, cost.Memory), "redis"), in.Cell(cost.Contended(lock, cost.Memory), "redis")
			floor := 20_000 + float64(away)
			for round := range 3 {
				one.Add(round, cost.Floor, floor)
				one.Add(round, cost.Cycle, float64(i+2)*floor)
				all.Add(round, cost.HandOffs, 1e9/(float64(i+1)*floor))
			}
		}
		far.Cells = in.Cells
		b.Far = append(b.Far, far)
	}
	var text bytes.Buffer
	if err := Bench(&text, b); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"At 1ms, round trips a cycle: from 2.00 (redis-setpx-lua) to 4.00 (etcd-v3lock); hand-offs: from 327/s (etcd-v3lock) to 980/s (redis-setpx-lua). The dearest cycle took 2.00 times as long as the cheapest there, and 2.00 times near by.",
		"At 10ms, round trips a cycle: from 2.00 (redis-setpx-lua) to 3.00 (redis-fenced);",
		"Of the 2 locks that were measured there and near by, the dearest cycle took 1.50 times as long as the cheapest there, and 1.50 times near by.",
		"near trips /s 1ms trips /s 10ms trips /s",
		"etcd-v3lock 80.0 µs 4.00 16667 4.08 ms 4.00 327 - - -",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("lacks %q", want)
		}
	}
	b.Far[1].Cells[1].Figures[cost.HandOffs].Summary = cost.Summary{} // nobody passed it on there
	if told := takeHome(b, distances(b)[0], distances(b)[1]); !strings.Contains(told[0], "; hand-offs: from 0.00/s (redis-setpx-lua) to ") {
		t.Error(told)
	}
	b.Far[1].Cells[0].Fail(errors.New("it hung there"))
	b.Far[2].Rounds = 1
	table := farTable(b, distances(b))
	if !strings.HasPrefix(table.Intro, "The medians of 3 rounds (at 10ms of 1), ") {
		t.Error(table.Intro)
	}
	if list := benchFailures(b); !slices.ContainsFunc(list, func(f benchFailure) bool {
		return f.Why == "it hung there" && strings.HasSuffix(f.Where, "by distance, 1ms")
	}) {
		t.Errorf("%+v", list)
	}
	if g := farPlots(b); len(g.figures) != 2 {
		t.Errorf("%d plots", len(g.figures))
	}
	b.Plan.Distances = []time.Duration{time.Millisecond, 10 * time.Millisecond}
	b.Far = b.Far[:1] // interrupted there
	b.Far[0].Noise = []string{"in 1 of 3 rounds others were busy"}
	remarks := strings.Join(farRemarks(b), "|")
	if remarks != "The machine was not quiet at a distance (near): in 1 of 3 rounds others were busy.|At a distance of 1ms (--latency) 0 of 3 rounds were done.|At a distance of 10ms (--latency) 0 of 3 rounds were done." {
		t.Error(remarks)
	}
	if g := farPlots(b); len(g.figures) != 0 || len(distances(b)) != 1 {
		t.Errorf("%d plots of one distance", len(g.figures))
	}
}
