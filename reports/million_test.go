package reports

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

const (
	crowdProcesses = 8
	crowdClients   = 64
)

// crowded makes the directory of a run in which many clients always wait for one lock,
// as a client records it, with half as many grants as operations. Amid it stand a
// double grant and an overstay, which the findings tell.
func crowded(t testing.TB, dir string, operations int, store bool) (*rundir.Run, []checker.Finding) {
	t.Helper()
	run, err := rundir.CreateRun(dir, history.Plan{Algorithm: "redis-setpx-del", Fault: "pause-holder", Workload: "counter", Lab: "local", Topology: "redis",
		Clients: crowdClients, Processes: crowdProcesses, TTL: time.Second, Duration: 8 * time.Second, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*history.Recorder{}
	names := []string{rundir.Runner, rundir.Store}
	for n := range crowdProcesses {
		names = append(names, rundir.Worker(n+1))
	}
	for _, name := range names {
		if files[name], err = history.Create(run.EventsFile(name)); err != nil {
			t.Fatal(err)
		}
	}
	const step = 2000
	var found []checker.Finding
	asked := make([]lb.Instant, crowdClients)
	now, seq := bootTime, uint64(0)
	for i := range operations / 2 {
		k := i % crowdClients
		worker := rundir.Worker(k%crowdProcesses + 1)
		e := history.Event{Client: fmt.Sprintf("%s.c%d", worker, k/crowdProcesses), Lock: "stock", ID: fmt.Sprint("a", i)}
		put := func(file string, at lb.Instant, kind history.Kind, op string, result lb.Answer) {
			e.At, e.Kind, e.Op, e.Result = at, kind, op, result
			files[file].Record(e)
			e.Until = 0
		}
		access := func(at lb.Instant, kind history.Kind, c history.CopyEffect) {
			if !store {
				return
			}
			seq++
			a := e
			a.At, a.Kind, a.Op, a.Result, a.Seq, a.Copies = at, kind, "", 0, seq, &history.CopyEffects{Plain: c, Checked: c}
			files[rundir.Store].Record(a)
		}
		from, until, end := max(asked[k], bootTime), now+1e9, now+1000
		switch i {
		case operations / 4: // the next is granted meanwhile
			end = now + step + 700
			found = append(found, checker.Finding{Layer: "belief", Mechanism: lb.DoubleGrant, Lock: e.Lock, At: now + step, From: from, To: end,
				IDs: []string{e.ID, fmt.Sprint("a", i+1)}, Sentence: "two clients relied on the lock"})
		case operations / 3:
			until, end = now+400, now+3*step+100
			found = append(found, checker.Finding{Layer: "overstay", Mechanism: lb.Overstay, Lock: e.Lock, At: end - 500, From: from, To: end - 500,
				IDs: []string{e.ID}, Sentence: "somebody wrote beyond its lease"})
		}
		put(worker, from, history.KindCall, history.OpAcquire, 0)
		e.Until = until
		put(worker, now, history.KindReturn, history.OpAcquire, lb.AnswerOK)
		access(now+100, history.KindRead, history.CopyEffect{Value: int64(i)})
		access(end-500, history.KindWrite, history.CopyEffect{Value: int64(i), Base: int64(i), New: int64(i) + 1, Result: history.Landed})
		put(worker, end, history.KindCall, history.OpRelease, 0)
		put(worker, end+500, history.KindReturn, history.OpRelease, lb.AnswerOK)
		asked[k] = end + 600
		now += step
	}
	files[rundir.Runner].Record(history.Event{At: now + 10*step, Kind: history.KindEnd})
	for _, f := range files {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return run, found
}

// TestPageOfAMillionOperations takes a few seconds; what must never happen is that the
// time grows with the history for each thing that is drawn.
func TestPageOfAMillionOperations(t *testing.T) {
	testkit.Share(t, 2)
	operations := 1_000_000
	if !testkit.All() { // enough to see what grows faster than the history, unless it begins late
		operations = 300_000
	}
	for name, store := range map[string]bool{"without the store": false, "with it": true} {
		t.Run(name, func(t *testing.T) {
			run, found := crowded(t, filepath.Join(t.TempDir(), "run"), operations, store)
			res := checker.Result{Plan: run.Plan, Outcome: lb.Broken, Mechanism: lb.DoubleGrant, Reason: lb.DoubleGrant + ": " + found[0].Sentence,
				Layers: []checker.Layer{{Name: "belief", Verdict: checker.Invalid, Findings: found[:1], Count: 1}, {Name: "overstay", Verdict: checker.Invalid, Findings: found[1:], Count: 1}}}
			if err := run.SaveResult(res); err != nil {
				t.Fatal(err)
			}
			var ix *history.Index
			for try := 1; ; try++ { // what one takes varies where others work beside it
				begin := testkit.Worked(t)
				if _, err := HTML(run.Dir); err != nil {
					t.Fatal(err)
				}
				page := testkit.Worked(t) - begin
				begin = testkit.Worked(t)
				var err error
				if ix, err = run.History(t.Context()); err != nil {
					t.Fatal(err)
				}
				reading := testkit.Worked(t) - begin
				t.Logf("the page took %v, of which the reading %v", page.Round(time.Millisecond), reading.Round(time.Millisecond))
				if page <= 3*reading { // it reads the history once
					break
				}
				if try == 3 {
					t.Errorf("the page took %v, and reading the history alone %v", page, reading)
					break
				}
			}
			if len(ix.Doubts) > 0 || len(ix.Acqs) != operations/2 {
				t.Fatalf("%d acquisitions, doubts %q", len(ix.Acqs), ix.Doubts)
			}
			whole := checker.Finding{Mechanism: lb.Ghost, Lock: "stock", From: ix.Start, To: ix.Last, IDs: []string{"a7"}}
			for _, f := range append(found, whole) {
				begin := time.Now()
				svg := Timeline(ix, f, run.Plan)
				d := time.Since(begin)
				t.Logf("%s: %d bytes in %v", f.Mechanism, len(svg), d.Round(time.Millisecond))
				wellFormed(t, svg)
				if svg == "" || d > 20*time.Second {
					t.Errorf("%s: %d bytes in %v", f.Mechanism, len(svg), d)
				}
				if want := map[string]string{lb.DoubleGrant: ">two holders<", lb.Overstay: "after its lease had ended"}[f.Mechanism]; !strings.Contains(svg, want) && store {
					t.Errorf("the picture of the %s lacks %q", f.Mechanism, want)
				}
			}
		})
	}
}
