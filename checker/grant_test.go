package checker

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// histories is how many random histories are judged; LOCKBENCH_HISTORIES sets
// another number for long runs.
func histories(t *testing.T) uint64 {
	s := os.Getenv("LOCKBENCH_HISTORIES")
	if s == "" {
		return 100_000
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("LOCKBENCH_HISTORIES: %v", err)
	}
	return n
}

// TestRandomHistoriesAgainstPorcupine compares the exact check with a general one that
// knows nothing of holds and windows. Every legal history must have a witness that
// the verifier accepts, every illegal one a counterexample that porcupine confirms.
func TestRandomHistoriesAgainstPorcupine(t *testing.T) {
	n := histories(t)
	workers := uint64(runtime.GOMAXPROCS(0))
	tallies := make([]map[string]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		tallies[w] = map[string]int{}
		wg.Go(func() {
			for seed := w; seed < n && !t.Failed(); seed += workers {
				compare(t, seed, tallies[w])
			}
		})
	}
	wg.Wait()
	total := map[string]int{}
	for _, tally := range tallies {
		for k, v := range tally {
			total[k] += v
		}
	}
	t.Logf("%d histories: %v", n, total)
	for _, class := range []string{"legal", "illegal"} {
		if uint64(total[class])*5 < n {
			t.Errorf("only %d of %d histories are %s: the generator is lopsided", total[class], n, class)
		}
	}
	for _, what := range []string{"granted while it was held", "by its own answers granted for a moment while it was held",
		"lost while it was held", "released twice", "released without having been granted",
		"released before it was asked for", whileFull, "by its own answers granted for a moment while all of its permits were held", "legal with a window", "legal with shared holds"} {
		if total[what] == 0 {
			t.Errorf("no history is %q", what)
		}
	}
}

func compare(t *testing.T, seed uint64, tally map[string]int) {
	ops := randomOps(rand.New(rand.NewPCG(seed, 1)))
	permits := 1
	if seed%3 == 0 && !slices.ContainsFunc(ops, func(op Op) bool { return op.Shared || op.Owner > 0 }) {
		permits += 1 + rand.New(rand.NewPCG(seed, 2)).IntN(2)
	}
	want := Linearizable(ops, permits, time.Minute)
	got := Grant(ops, permits)
	switch {
	case got.Err != nil:
		t.Errorf("seed %d: %v", seed, got.Err)
	case (got.Count == 0) != (want == porcupine.Ok) || want == porcupine.Unknown:
		t.Errorf("seed %d: of %d permits porcupine says %s, Grant found %+v\n%+v", seed, permits, want, got.Violations, ops)
	case got.Count == 0:
		if err := Verify(ops, got.Witness, permits); err != nil {
			t.Errorf("seed %d: witness: %v\n%+v", seed, err, ops)
		}
		tally["legal"]++
		observe(ops, got.Witness, tally)
	default:
		tally["illegal"]++
		for _, v := range got.Violations {
			tally[v.What]++
			counterexample(t, seed, ops, permits, v)
		}
	}
}

func observe(ops []Op, w Witness, tally map[string]int) {
	windows, shared := false, false
	for _, p := range w {
		windows = windows || p.rank == rankWindow
		shared = shared || p.rank == rankTake && ops[p.Op].Shared
	}
	if windows {
		tally["legal with a window"]++
	}
	if shared {
		tally["legal with shared holds"]++
	}
}

// counterexample wants a violation to be confirmed and minimal: without any one
// of its acquisitions nothing is wrong.
func counterexample(t *testing.T, seed uint64, ops []Op, permits int, v Violation) {
	if v.confirmed(ops, permits) != porcupine.Illegal {
		t.Errorf("seed %d: porcupine finds nothing wrong with %+v of\n%+v", seed, v, ops)
	}
	ids := map[int32]bool{}
	several := false
	for _, i := range v.Ops {
		ids[ops[i].ID] = true
		several = several || ops[i].Shared || ops[i].Owner > 0
	}
	if len(v.Ops) > 2+2*permits && !several {
		t.Errorf("seed %d: a counterexample of %d operations: %+v", seed, len(v.Ops), ops)
	}
	for id := range ids {
		var rest []Op
		for _, i := range v.Ops {
			if ops[i].ID != id {
				rest = append(rest, ops[i])
			}
		}
		if res := Linearizable(rest, permits, time.Minute); res != porcupine.Ok {
			t.Errorf("seed %d: the counterexample %+v is not minimal: without %d it is %s\n%+v", seed, v, id, res, ops)
		}
	}
}
