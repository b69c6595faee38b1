package checker

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench"
)

// saturated is a legal history of n operations: one lock, 64 clients that always
// wait for it, and 1% of all operations with an unknown outcome.
func saturated(n int) []Op {
	rng := rand.New(rand.NewPCG(1, 2))
	const clients = 64
	asked := make([]lockbench.Instant, clients) // when each client began to wait
	ops := make([]Op, 0, n)
	now := lockbench.Instant(1)
	for id := int32(0); len(ops)+2 <= n; id++ {
		c := id % clients
		take, free := Op{Call: asked[c], Return: now + 1, ID: id}, Op{Call: now + 5, Return: now + 8, ID: id, Kind: Release}
		now += 6
		switch rng.IntN(100) {
		case 0:
			take.Return, take.Result = Forever, Unknown
		case 1:
			free.Return, free.Result = Forever, Unknown
		}
		ops = append(ops, take, free)
		asked[c] = now + 3
	}
	// The order of operations must not matter; this is the worst for the caches.
	rng.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	return ops
}

func BenchmarkGrant(b *testing.B) {
	for _, n := range []int{1e4, 1e5, 1e6} {
		ops := saturated(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				res := Grant(ops)
				if err := Verify(ops, res.Witness); err != nil || res.Err != nil {
					b.Fatal(err, res.Err, res.Violations)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
		})
	}
}

// BenchmarkPorcupine is what a general checker needs for the same histories. Its
// operations are fewer: it needs gigabytes for a hundred thousand.
func BenchmarkPorcupine(b *testing.B) {
	for _, n := range []int{1e3, 1e4} {
		ops := saturated(n)
		var history []porcupine.Operation
		for _, op := range ops {
			history = append(history, porcupine.Operation{ClientId: int(op.ID % 64), Input: op,
				Call: int64(op.Call), Return: int64(op.Return)})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res := porcupine.CheckOperationsTimeout(ownerModel, history, time.Minute); res != porcupine.Ok {
					b.Fatal(res)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
		})
	}
}

// BenchmarkCheck judges a whole run from its events.
func BenchmarkCheck(b *testing.B) {
	h := eventsOf(saturated(1e5))
	b.ReportAllocs()
	for b.Loop() {
		if res := Check(lockbench.Plan{}, h); res.Outcome != lockbench.Safe {
			b.Fatal(res.Outcome, res.Reason)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e5, "ns/operation")
}

// eventsOf writes operations as a history.
func eventsOf(ops []Op) lockbench.History {
	ops = slices.SortedFunc(slices.Values(ops), func(a, b Op) int { return cmp.Compare(a.Call, b.Call) })
	var h lockbench.History
	names := []string{lockbench.OpAcquire, lockbench.OpRelease}
	results := []lockbench.Result{lockbench.OK, lockbench.Fail, lockbench.Unknown, lockbench.Lost}
	for _, op := range ops {
		e := lockbench.Event{At: op.Call, Kind: lockbench.KindCall, Op: names[op.Kind], Lock: "l",
			Client: fmt.Sprintf("w.c%d", op.ID%64), ID: fmt.Sprint(op.ID)}
		h = append(h, e)
		if e.At, e.Kind, e.Result = op.Return, lockbench.KindReturn, results[op.Result]; op.Result != Unknown {
			h = append(h, e)
		}
	}
	return h
}
