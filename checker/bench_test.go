package checker

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// saturated is a legal history of n operations: one lock, 64 clients that always
// wait for it, and 1% of all operations with an unknown outcome.
func saturated(n int) []Op {
	rng := rand.New(rand.NewPCG(1, 2))
	const clients = 64
	asked := make([]lb.Instant, clients) // when each client began to wait
	ops := make([]Op, 0, n)
	now := lb.Instant(1)
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

// BenchmarkGrant is the exact check with its witness and the verification of it.
func BenchmarkGrant(b *testing.B) {
	for _, n := range []int{1e4, 1e5, 1e6, 1e7} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ops := saturated(n)
			b.ReportAllocs()
			for b.Loop() {
				grantAndVerify(b, ops)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
		})
	}
}

func grantAndVerify(b *testing.B, ops []Op) {
	res := Grant(ops, 1)
	if err := Verify(ops, res.Witness, 1); err != nil || res.Err != nil {
		b.Fatal(err, res.Err, res.Violations)
	}
}

// BenchmarkPorcupine is what a general checker needs for the same histories, and
// how many times as long as the exact check that is. Its memory grows with the
// square of the operations, gigabytes for a hundred thousand: there it is given
// some seconds, and whether it came to an end ("decided").
func BenchmarkPorcupine(b *testing.B) {
	for _, n := range []int{1e3, 1e4, 1e5} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ops := saturated(n)
			history := make([]porcupine.Operation, n)
			for i, op := range ops {
				history[i] = porcupine.Operation{ClientId: int(op.ID % 64), Input: op, Call: int64(op.Call), Return: int64(op.Return)}
			}
			limit := time.Minute
			if n > 1e4 {
				limit = 5 * time.Second
			}
			const rounds = 10
			start := time.Now()
			for range rounds {
				grantAndVerify(b, ops)
			}
			exact := time.Since(start) / rounds
			decided := 1.0
			b.ReportAllocs()
			for b.Loop() {
				switch porcupine.CheckOperationsTimeout(mutexModel, history, limit) {
				case porcupine.Illegal:
					b.Fatal("porcupine finds a legal history illegal")
				case porcupine.Unknown:
					decided = 0
				}
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(each/float64(n), "ns/operation")
			b.ReportMetric(each/float64(exact), "times-exact")
			b.ReportMetric(decided, "decided")
		})
	}
}

// mutexModel is a lock that is never shared: its state is who holds it, 0 for nobody.
var mutexModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{int32(0)} },
	Step: func(state, input, _ any) []any {
		op, holder := input.(Op), state.(int32)
		was, is := int32(0), op.ID+1
		if op.Kind == Release {
			was, is = is, was
		}
		switch possible := holder == was; {
		case possible && op.Result == Unknown:
			return []any{holder, is}
		case possible:
			return []any{is}
		case op.Result == Unknown:
			return []any{holder}
		}
		return nil
	},
}).ToModel()

// BenchmarkCheck judges a whole run, all layers, from its index.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1e4, 1e5, 1e6} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ix := indexed(eventsOf(saturated(n), oneOf64))
			b.ReportAllocs()
			for b.Loop() {
				if res := Check(b.Context(), history.Plan{}, ix); res.Outcome != lb.Safe {
					b.Fatal(res.Outcome, res.Reason)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/operation")
		})
	}
}

// oneOf64 is the client of a saturated history.
func oneOf64(_ int, op Op) string { return fmt.Sprintf("w.c%d", op.ID%64) }

// eventsOf writes operations as a history; an Expire becomes the end of a lease.
func eventsOf(ops []Op, client func(i int, op Op) string) history.Events {
	ops = slices.SortedStableFunc(slices.Values(ops), func(a, b Op) int {
		return cmp.Or(cmp.Compare(a.Call, b.Call), cmp.Compare(a.Kind, b.Kind))
	})
	until := map[int32]lb.Instant{}
	for _, op := range ops {
		if op.Kind == Expire {
			until[op.ID] = op.Call
		}
	}
	names := []string{history.OpAcquire, history.OpRelease}
	h := make(history.Events, 0, 2*len(ops))
	for i, op := range ops {
		if op.Kind == Expire {
			continue
		}
		e := history.Event{At: op.Call, Kind: history.KindCall, Op: names[op.Kind], Lock: string(rune('l' + op.Lock)),
			Client: client(i, op), ID: fmt.Sprint(op.ID), Shared: op.Shared && op.Kind == Acquire}
		h = append(h, e)
		if op.Result == Unknown {
			continue
		}
		e.At, e.Kind, e.Result = op.Return, history.KindReturn, op.Result
		if op.Kind == Acquire && op.Result == OK {
			e.Until = until[op.ID]
		}
		h = append(h, e)
	}
	slices.SortStableFunc(h, func(a, b history.Event) int { return cmp.Compare(a.At, b.At) })
	return h
}
