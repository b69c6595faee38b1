package rundir

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var aPlan = history.Plan{Algorithm: "A", Fault: "pause@b", Processes: 2, TTL: time.Second, Seed: 7,
	Expect: &lb.Expectation{Fault: "pause-*", Outcomes: []lb.Outcome{lb.Check}, Why: "because"}}

// newRun makes a run, with what these recorders recorded.
func newRun(t *testing.T, recorded map[string]history.Events) *Run {
	t.Helper()
	r, err := CreateRun(filepath.Join(t.TempDir(), "below", "run"), aPlan)
	ok(t, err)
	for recorder, h := range recorded {
		rec, err := history.Create(r.EventsFile(recorder))
		ok(t, err)
		for _, ev := range h {
			rec.Record(ev)
		}
		ok(t, rec.Close())
	}
	return r
}

var whole = map[string]history.Events{
	Runner:    {{At: 9, Kind: history.KindEnd}},
	Store:     {},
	Worker(1): {{At: 1, Kind: history.KindCall, Op: history.OpAcquire, Client: "w1.c1", Lock: "l", ID: "a"}},
	Worker(2): {{At: 2, Kind: history.KindCall, Op: history.OpAcquire, Client: "w2.c1", Lock: "l", ID: "b"}},
}

func without(recorder string) map[string]history.Events {
	some := map[string]history.Events{}
	for name, h := range whole {
		if name != recorder {
			some[name] = h
		}
	}
	return some
}

func compress(t *testing.T, path string) {
	t.Helper()
	in, err := os.Open(path)
	ok(t, err)
	out, err := os.Create(path + ".gz")
	ok(t, err)
	z := gzip.NewWriter(out)
	_, err = io.Copy(z, in)
	ok(t, errors.Join(err, z.Close(), out.Close(), in.Close(), os.Remove(path)))
}

func TestRunKeepsWhatItWasGiven(t *testing.T) {
	r := newRun(t, whole)
	if _, err := CreateRun(r.Dir, aPlan); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second run in the same place: %v", err)
	}
	if _, err := r.Result(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the result of a run that was never judged: %v", err)
	}
	ok(t, r.SaveResult(checker.Result{Plan: r.Plan, Outcome: lb.Safe}))
	for _, packed := range []bool{false, true} {
		if packed {
			compress(t, filepath.Join(r.Dir, "plan.json"))
			compress(t, filepath.Join(r.Dir, "results.json"))
			compress(t, r.EventsFile(Worker(1)))
			compress(t, r.EventsFile(Runner))
		}
		again, err := OpenRun(r.Dir)
		ok(t, err)
		if again.Plan.Made.IsZero() || again.Plan.Schema != history.Schema || !reflect.DeepEqual(again.Plan.Expect, aPlan.Expect) {
			t.Errorf("plan %+v", again.Plan)
		}
		res, err := again.Result()
		if ok(t, err); res.Outcome != lb.Safe || res.Plan.Seed != 7 {
			t.Errorf("result %+v", res)
		}
		ix, err := again.History(t.Context())
		ok(t, err)
		if len(ix.Acqs) != 2 || len(ix.Doubts) > 0 || ix.End != 9 {
			t.Errorf("%d acquisitions, doubts %q, end %d", len(ix.Acqs), ix.Doubts, ix.End)
		}
		ok(t, again.Ended(ix))
		kind, err := Kind(r.Dir)
		if ok(t, err); kind != IsRun {
			t.Errorf("kind %q", kind)
		}
	}
}

// TestMissingRecorder: what is not there is not taken for nothing.
func TestMissingRecorder(t *testing.T) {
	for recorder := range whole {
		r := newRun(t, without(recorder))
		ix, err := r.History(t.Context())
		ok(t, err)
		if len(ix.Doubts) == 0 || !strings.Contains(ix.Doubts[0], recorder+".jsonl is missing") {
			t.Errorf("without %s: doubts %q", recorder, ix.Doubts)
		}
		// Without the runner's nobody knows whether it ended; that it was cut short is not known either.
		if err := r.Ended(ix); (err == nil) != (recorder != Runner) || errors.Is(err, ErrCutShort) {
			t.Errorf("without %s the run ended: %v", recorder, err)
		}
	}
}

func TestRunThatDidNotEnd(t *testing.T) {
	cut := without(Runner)
	cut[Runner] = history.Events{{At: 3, Kind: history.KindFault, Name: "end", Phase: "strike"}}
	r := newRun(t, cut)
	ix, err := r.History(t.Context())
	ok(t, err)
	if err := r.Ended(ix); !errors.Is(err, ErrCutShort) {
		t.Errorf("a run without an end: %v", err)
	}
	r = newRun(t, whole)
	ok(t, r.Fail("the bench broke"))
	ix, err = r.History(t.Context())
	ok(t, err)
	if err := r.Ended(ix); err == nil || err.Error() != "the bench broke" {
		t.Errorf("a run that failed: %v", err)
	}
}

// TestSameMatrix: a matrix and its own file differ in nothing, though the file has not what each cell was given, nor its servers.
func TestSameMatrix(t *testing.T) {
	at := place{"a", "f"}
	cells := []checker.Cell{{Algorithm: at.algorithm, Fault: at.fault, Outcome: lb.Safe}}
	whole := Saved{Cells: cells, plans: map[place]history.Plan{at: {Algorithm: "a", Fault: "f", Work: "2.5ttl", TTL: 1, Versions: map[string]string{"redis-server": "7"}}}}
	file := Saved{Cells: cells, all: &history.Plan{}}
	if notes := append(file.Differ(whole, "file", "whole"), whole.Differ(file, "whole", "file")...); len(notes) > 0 {
		t.Errorf("%q", notes)
	}
	if servers := append(whole.Servers(file), file.Servers(whole)...); len(servers) > 0 {
		t.Errorf("%q", servers)
	}
}

// TestOldHistory reads what was merged, where there are no events.
func TestOldHistory(t *testing.T) {
	r := newRun(t, nil)
	ok(t, os.Remove(r.EventsDir()))
	ok(t, history.Write(filepath.Join(r.Dir, "history.jsonl"), append(slices.Concat(whole[Worker(1)], whole[Worker(2)]), whole[Runner]...)))
	ix, err := r.History(t.Context())
	if ok(t, err); len(ix.Acqs) != 2 || len(ix.Doubts) > 0 {
		t.Errorf("%d acquisitions, doubts %q", len(ix.Acqs), ix.Doubts)
	}
	ok(t, r.Ended(ix))
}

func TestDamage(t *testing.T) {
	r := newRun(t, whole)
	plan := filepath.Join(r.Dir, "plan.json")
	for text, want := range map[string]string{
		"{\n \"schema\": 1}":                     "plan.json:2: schema 1 is that of an older lockbench",
		"{\n \"schema\": 3}":                     "plan.json:2: schema 3 is that of a newer lockbench",
		"{}":                                     "plan.json:1: it has no schema",
		"{\n\"schema\": 2,\n\"algorithm\": 7\n":  "plan.json:4: unexpected end",
		"{\n\"schema\": 2,\n\"algorithm\": 7\n}": "plan.json:3: ",
	} {
		ok(t, os.WriteFile(plan, []byte(text), 0o644))
		var line *history.LineError
		if _, err := OpenRun(r.Dir); !errors.As(err, &line) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	ok(t, os.Remove(plan))
	if _, err := Kind(r.Dir); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "with plan.json and events/) nor a matrix (with matrix.json) nor a benchmark (with bench.json)") {
		t.Errorf("a directory of nothing: %v", err)
	}
	facts := filepath.Join(r.Dir, FactsFile)
	ok(t, os.WriteFile(facts, []byte("[]"), 0o644))
	if _, err := Kind(r.Dir); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "facts was told, in facts.json: there is no page of it") {
		t.Errorf("a directory of facts: %v", err)
	}
	ok(t, os.Remove(facts))
	if _, err := Kind(filepath.Join(r.Dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "nowhere: name that of a run, a matrix or a benchmark") {
		t.Errorf("no directory: %v", err)
	}
	if _, err := Kind(r.EventsFile(Runner)); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v", err)
	}
	if _, err := OpenRun(r.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run without a plan: %v", err)
	}
}

// TestUnwritable: what can't be written stays as it was, and nothing else is left.
func TestUnwritable(t *testing.T) {
	r := newRun(t, nil)
	inTheWay := filepath.Join(r.Dir, "results.json", "full") // root may write everywhere, but not over this
	ok(t, os.MkdirAll(inTheWay, 0o755))
	if err := r.SaveResult(checker.Result{}); err == nil {
		t.Error("a result was written over a directory")
	}
	if left, _ := filepath.Glob(filepath.Join(r.Dir, ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	file := filepath.Join(r.Dir, "plan.json")
	if err := Writable(file); err == nil {
		t.Error("a file can be written into")
	}
	ok(t, Writable(r.Dir))
	if _, err := CreateRun(filepath.Join(file, "run"), aPlan); err == nil {
		t.Error("a run below a file")
	}
}

func TestHistoryIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newRun(t, whole).History(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("read all the same: %v", err)
	}
}

// TestBenchDirectory: a benchmark may lie in a matrix's directory or in one of its own,
// and nowhere else.
func TestBenchDirectory(t *testing.T) {
	m := aMatrix(t, 1, checker.Cell{Algorithm: "A", Fault: "f"})
	_, err := CreateBench(m.Dir, cost.Plan{})
	ok(t, err)
	if _, err := CreateBench(m.Dir, cost.Plan{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a benchmark over another: %v", err)
	}
	r := newRun(t, whole)
	if _, err := CreateBench(r.Dir, cost.Plan{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a benchmark in a run: %v", err)
	}
	if is, err := Kind(r.Dir); is != IsRun || exists(filepath.Join(r.Dir, benchFile)) {
		t.Errorf("the run's directory is that of a %s: %v", is, err)
	}
}

// TestDifferentBenches: what differs between two benchmarks and is no lock's is said.
func TestDifferentBenches(t *testing.T) {
	saved := func(cores int, redis string, ttl, sync time.Duration, noise ...string) Saved {
		dir := t.TempDir()
		b, err := CreateBench(dir, cost.Plan{Rounds: 6, TTL: ttl, Machine: &history.Machine{System: "linux/amd64", Cores: cores}, Versions: map[string]string{"redis-server": redis}})
		if err != nil {
			t.Fatal(err)
		}
		b.Bench.Rounds, b.Bench.Noise, b.Bench.Sync = 6, noise, []cost.Quantile{{Q: .5, At: sync}}
		if err := b.Save(); err != nil {
			t.Fatal(err)
		}
		s, err := OpenSaved(filepath.Join(dir, benchFile))
		if whole, wholeErr := OpenSaved(dir); err != nil || wholeErr != nil || s.Bench == nil || whole.Bench == nil || len(s.Cells) > 0 {
			t.Fatalf("%v, %v", err, wholeErr)
		}
		return s
	}
	a := saved(2, "7.0", time.Second, time.Millisecond)
	if notes := a.Differ(saved(2, "7.0", time.Second, 1500*time.Microsecond), "a", "b"); len(notes) > 0 {
		t.Errorf("nothing differs: %q", notes)
	}
	got := strings.Join(a.Differ(saved(4, "7.2", 2*time.Second, 3*time.Millisecond, "busy", "still busy"), "a", "b"), "\n")
	if want := `The TTL is not the same: 1s in a, 2s in b.
The disk is not the same: a write with fdatasync takes 1ms in a, 3ms in b.
The machine is not the same everywhere: linux/amd64, 2 cores in a; linux/amd64, 4 cores in b.
The version of redis-server is not the same everywhere: 7.0 in a; 7.2 in b.
The machine was not quiet in b: busy; still busy.`; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
