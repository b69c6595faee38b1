package checker

import (
	"math/bits"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// confirmTime is far more than porcupine needs for a handful of operations.
const confirmTime = 2 * time.Second

// maxModel is how many acquisitions the model can tell apart.
const maxModel = 256

// Linearizable asks porcupine whether the operations are linearizable for locks
// with owners, of which so many may hold one at once. It takes time and memory that grow exponentially: it is for the
// few operations of a counterexample and for tests. Of more than 256 acquisitions
// it says Unknown.
func Linearizable(ops []Op, permits int, limit time.Duration) porcupine.CheckResult {
	m := newModel(ops, permits)
	if len(m.ids) > maxModel || len(ops) > maxModel && slices.ContainsFunc(ops, func(op Op) bool { return op.Client > 0 }) {
		return porcupine.Unknown
	}
	return porcupine.CheckOperationsTimeout(m.model(), m.operations(ops), limit)
}

// model is a lock as a set of acquisitions that hold it.
type model struct {
	ids     []int32
	permits int
	against []holders // by acquisition: those that hold the lock against it, each by a permit
}

// holders is a set of acquisitions, by their places in the model.
type holders [maxModel / 64]uint64

func (h holders) has(i int) bool { return h[i/64]&(1<<(i%64)) != 0 }

func (h holders) with(i int) holders {
	h[i/64] |= 1 << (i % 64)
	return h
}

func (h holders) without(i int) holders {
	h[i/64] &^= 1 << (i % 64)
	return h
}

// among is how many of them are among others.
func (h holders) among(o holders) (n int) {
	for i := range h {
		n += bits.OnesCount64(h[i] & o[i])
	}
	return n
}

func newModel(ops []Op, permits int) *model {
	m := &model{permits: max(1, permits)}
	var one []Op // of each acquisition; its acquire, where there is one
	for _, op := range ops {
		switch i := slices.Index(m.ids, op.ID); {
		case i < 0:
			m.ids, one = append(m.ids, op.ID), append(one, op)
		case op.Kind == Acquire:
			one[i] = op
		}
		if len(m.ids) > maxModel {
			return m
		}
	}
	m.against = make([]holders, len(one))
	for i, a := range one {
		for j, b := range one {
			if a.owner() != b.owner() && !(a.Shared && b.Shared) {
				m.against[i] = m.against[i].with(j)
			}
		}
	}
	return m
}

// move is an operation with the place of its acquisition, its own, and those of what its client
// had done before in the instant in which it called it.
type move struct {
	Op
	at, nth int
	before  []int
}

func (m *model) operations(ops []Op) []porcupine.Operation {
	var out []porcupine.Operation
	for i, op := range ops {
		mv := move{Op: op, at: slices.Index(m.ids, op.ID), nth: i}
		for k, first := range ops {
			if first.Client > 0 && first.Client == op.Client && first.Lock == op.Lock && first.Order < op.Order && first.Return == op.Call && first.definite() {
				mv.before = append(mv.before, k)
			}
		}
		out = append(out, porcupine.Operation{ClientId: mv.at, Call: int64(op.Call), Return: int64(op.Return), Input: mv})
	}
	return out
}

// stand is who holds the lock, whose acquire has taken effect, and which calls have.
type stand struct{ held, taken, done holders }

// next lists what the lock may be after the move: more than one state where the
// outcome is unknown, none where it can't happen.
func (m *model) next(now stand, mv move) []any {
	same := now
	if mv.Client > 0 {
		now.done = now.done.with(mv.nth)
	}
	possible, after := now.held.has(mv.at), stand{now.held.without(mv.at), now.taken, now.done}
	if mv.Kind == Acquire {
		possible, after = now.held.among(m.against[mv.at]) < m.permits, stand{now.held.with(mv.at), now.taken.with(mv.at), now.done}
	}
	early := slices.ContainsFunc(mv.before, func(k int) bool { return !same.done.has(k) })
	switch {
	case early && !mv.definite():
		return []any{same} // it may never take effect
	case early && mv.Result != Fail:
		return nil
	case mv.Kind == Expire || mv.Result == Unknown:
		if possible {
			return []any{now, after}
		}
		return []any{now}
	case mv.After && !now.taken.has(mv.at):
		return nil
	case mv.Result == Fail, mv.Result == Lost && !now.held.has(mv.at):
		return []any{now}
	case mv.Result == OK && possible, mv.Result == Released:
		return []any{after}
	}
	return nil
}

func (m *model) model() porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			var locks []int32
			var parts [][]porcupine.Operation
			for _, o := range history {
				lock := o.Input.(move).Lock
				i := slices.Index(locks, lock)
				if i < 0 {
					i = len(locks)
					locks, parts = append(locks, lock), append(parts, nil)
				}
				parts[i] = append(parts[i], o)
			}
			return parts
		},
		Init: func() []any { return []any{stand{}} },
		Step: func(state, input, _ any) []any { return m.next(state.(stand), input.(move)) },
	}).ToModel()
}
