package reports

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
)

var (
	sampleRows = []string{"redis-setnx-expire", "redis-setpx-del", "redis-setpx-lua", "redis-watchdog", "redis-fenced",
		"redlock", "zk-sequential", "etcd-lease", "mysql-getlock"}
	sampleCols = []string{"pause-holder", "kill-holder", "kill@after-setnx", "lose-reply", "cut-holder",
		"failover-unreplicated", "server-clock", "client-clock", "none"}
	sampleGroups = map[string]string{"redis-setnx-expire": "Redis", "redis-setpx-del": "Redis", "redis-setpx-lua": "Redis",
		"redis-watchdog": "Redis", "redis-fenced": "Redis", "redlock": "Redis", "zk-sequential": "ZooKeeper", "zk-herd": "ZooKeeper",
		"etcd-lease": "etcd", "etcd-v3lock": "etcd", "mysql-getlock": "MySQL", "peer-one": "Libraries",
		"published-one": "As published", "none": "Without a lock"}
)

// sampleCells is a matrix of plausible results, with every outcome in it.
func sampleCells() []checker.Cell {
	var out []checker.Cell
	for i, row := range sampleRows {
		for j, col := range sampleCols {
			c := checker.Cell{
				Algorithm: row, Group: sampleGroups[row], Fault: col, Family: familyOf(col), Outcome: lb.Safe, Runs: 5, Sections: 4100 + 311*i - 97*j,
				OutageMS: 14.2 + float64(23*i+190*j), FirstViolationMS: -1, Seed: uint64(1000 + 17*i + j),
				Effect: "measured effect of " + col, Promise: "kept", Expected: "the lock service decides alone",
				Copies: map[string]checker.Copy{"plain": {Writes: 4000}, "checked": {Writes: 4000}},
				Dir:    fmt.Sprintf("cells/%s/%s/1", row, strings.ReplaceAll(col, ":", "_")),
			}
			if col == "none" {
				c.Effect, c.OutageMS = "", 3.1+float64(i)
			}
			change(&c)
			sure(&c)
			out = append(out, c)
		}
	}
	return out
}

// familyOf is what the fault of that name strikes.
func familyOf(name string) history.Family {
	f, err := faults.Find(append(faults.All(), faults.More()...), name)
	switch {
	case err != nil:
		return ""
	case f.Mix != nil:
		return history.Several
	}
	return f.Family
}

// sure says of the cell how sure it is, as the checkers do.
func sure(c *checker.Cell) {
	if c.Outcome != lb.NotAvailable && c.Outcome != lb.Inconclusive {
		c.Share = checker.NewShare(c.Violations, c.Runs-c.Inconclusive)
	}
}

// largeCells is a matrix of many locks and faults, of whose cells few matter.
func largeCells() []checker.Cell {
	var out []checker.Cell
	for _, row := range slices.Concat([]string{"none"}, sampleRows, []string{"peer-one", "published-one", "zk-herd", "mine"}) {
		for _, col := range append(slices.Clone(sampleCols), "kill-leader", "restart-empty", "cut-two+server-clock") {
			c := checker.Cell{Algorithm: row, Group: sampleGroups[row], Fault: col, Family: familyOf(col), Outcome: lb.Safe, Runs: 1}
			switch {
			case strings.Contains(col, "+") && row != "redlock":
				c.Outcome = lb.NotAvailable
			case row == "none":
				c.Outcome, c.Mechanism, c.Reason, c.Violations = lb.Broken, lb.DoubleGrant, "double grant: everybody is granted the lock", 1
			}
			sure(&c)
			out = append(out, c)
		}
	}
	return out
}

// sampleFindings are made once: there are many cells.
var sampleFindings = sync.OnceValue(func() (f struct{ over, late, stuck checker.Finding }) {
	_, f.over = overstay(false)
	_, f.late = lateDelete()
	_, f.stuck = ghost()
	return f
})

// change makes the cells in which something happened.
func change(c *checker.Cell) {
	hurt := func(o lb.Outcome, f checker.Finding) {
		c.Outcome, c.Mechanism, c.Reason, c.Violations, c.FirstViolationMS = o, f.Mechanism, f.Mechanism+": "+f.Sentence, 4, float64(f.At-bootTime)/1e6
		c.Copies["plain"] = checker.Copy{Writes: 3912, Lost: 211, Stale: 4}
		if o != lb.Check {
			c.Copies["checked"] = checker.Copy{Writes: 3900, Lost: 12, Stale: 1, Skipped: 3}
		}
	}
	f := sampleFindings()
	switch c.Fault {
	case "pause-holder":
		switch c.Algorithm {
		case "redis-setpx-del", "redlock":
			hurt(lb.Broken, f.late)
		case "redis-fenced", "etcd-lease":
			hurt(lb.Fence, f.over)
			c.Copies["fenced"] = checker.Copy{Writes: 3890, Refused: 4}
		case "redis-setpx-lua", "redis-watchdog":
			hurt(lb.Check, f.over)
		}
	case "kill@after-setnx":
		if c.Algorithm == "redis-setnx-expire" {
			hurt(lb.Stuck, f.stuck)
			c.Copies = map[string]checker.Copy{"plain": {Writes: 210}, "checked": {Writes: 210}}
			c.OutageMS = 4800
			return
		}
		c.Outcome, c.Promise, c.Reason, c.Runs, c.Sections, c.Effect, c.OutageMS = lb.NotAvailable, "", "the algorithm has no such step", 0, 0, "", -1
	case "server-clock":
		if strings.HasPrefix(c.Algorithm, "zk") || strings.HasPrefix(c.Algorithm, "etcd") {
			c.Outcome, c.Reason, c.Promise = lb.Inconclusive, "the fault did not bite: the server times leases by the monotonic clock", ""
		}
	case "cut-holder":
		if c.Algorithm == "redlock" {
			c.Inconclusive, c.Claims = 1, []checker.Unkept{{Claim: "fair", How: "3 of 210 grants out of turn"}}
		}
	case "failover-unreplicated":
		if c.Algorithm == "redis-setpx-lua" {
			c.Promise, c.Expected = "broken", "BROKEN: the replica never saw the grant (Redis replication is asynchronous)"
		}
	}
}

// writeSample makes a matrix directory with a run for each cell.
func writeSample(t testing.TB, dir string) {
	t.Helper()
	cells := sampleCells()
	writeMatrix(t, dir, cells, 5)
	for i, c := range cells {
		if c.Outcome == lb.NotAvailable {
			continue
		}
		writeRun(t, filepath.Join(dir, c.Dir), c, i)
	}
}

func writeMatrix(t testing.TB, dir string, cells []checker.Cell, planned int) {
	t.Helper()
	if _, err := rundir.CreateMatrix(dir, cells, planned); err != nil {
		t.Fatal(err)
	}
}

func writeRun(t testing.TB, dir string, c checker.Cell, i int) {
	t.Helper()
	h, f := calm(uint64(i), 1+float64(i%9)/9), checker.Finding{}
	switch {
	case c.Mechanism == lb.Overstay:
		h, f = overstay(c.Outcome == lb.Fence)
	case c.Mechanism == lb.DoubleGrant:
		h, f = lateDelete()
	case c.Mechanism == lb.Ghost:
		h, f = ghost()
	}
	writeRunOf(t, dir, c, h, f)
}

func writeRunOf(t testing.TB, dir string, c checker.Cell, h history.Events, f checker.Finding) *rundir.Run {
	t.Helper()
	run := writeHistory(t, dir, c, h)
	res := checker.Result{Plan: run.Plan, Outcome: c.Outcome, Mechanism: c.Mechanism, Reason: c.Reason, Copies: c.Copies, Sections: c.Sections,
		OutageMS: c.OutageMS, FirstViolationMS: c.FirstViolationMS, Effect: history.Proof{Proven: true, Measured: c.Effect}}
	for _, name := range []string{"grant", "belief", "overstay", "token", "store", "progress", "order"} {
		l := checker.Layer{Name: name, Verdict: checker.Valid, Summary: "412 acquisitions looked at"}
		if name == f.Layer {
			l.Verdict, l.Findings, l.Count = checker.Invalid, []checker.Finding{f}, 1
		}
		res.Layers = append(res.Layers, l)
	}
	if err := run.SaveResult(res); err != nil {
		t.Fatal(err)
	}
	return run
}

// writeHistory makes the directory of a run that was not judged.
func writeHistory(t testing.TB, dir string, c checker.Cell, h history.Events) *rundir.Run {
	t.Helper()
	run, err := rundir.CreateRun(dir, history.Plan{Algorithm: c.Algorithm, Fault: c.Fault, Workload: "counter", Lab: "local", Topology: "redis",
		Clients: 6, Processes: 3, TTL: time.Second, Duration: 8 * time.Second, Seed: c.Seed})
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]history.Events{rundir.Runner: nil, rundir.Store: nil, "w1": nil, "w2": nil, "w3": nil}
	for _, e := range h {
		recorder := rundir.Runner
		switch {
		case e.Copies != nil:
			recorder = rundir.Store
		case e.Client != "":
			recorder = history.WorkerName(e.Client)
		}
		parts[recorder] = append(parts[recorder], e)
	}
	for recorder, part := range parts {
		if err := history.Write(run.EventsFile(recorder), part); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

// indexed is the index of a history, which must make sense.
func indexed(t testing.TB, h history.Events) *history.Index {
	t.Helper()
	ix, err := history.Of(h)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func writeJSON(t testing.TB, path string, v any) {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
