package checker

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockbench/lockbench"
)

// confirmTime is far more than porcupine needs for a handful of operations.
const confirmTime = 2 * time.Second

// maxModel is how many acquisitions the model can tell apart.
const maxModel = 256

// Linearizable asks porcupine whether the operations are linearizable for locks
// with owners. It takes time and memory that grow exponentially: it is for the
// few operations of a counterexample and for tests. Of more than 256 acquisitions
// it says Unknown.
func Linearizable(ops []Op, limit time.Duration) porcupine.CheckResult {
	m := newModel(ops)
	if len(m.ids) > maxModel {
		return porcupine.Unknown
	}
	return porcupine.CheckOperationsTimeout(m.model(), m.operations(ops), limit)
}

// model is a lock as a set of acquisitions that hold it.
type model struct {
	ids     []int32
	against []holders // by acquisition: those beside which it can't be taken
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

func (h holders) meets(o holders) bool {
	for i := range h {
		if h[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

func newModel(ops []Op) *model {
	m := &model{}
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

// move is an operation with the place of its acquisition.
type move struct {
	Op
	at int
}

// operations translates. Times become their ranks, with room between them: what came
// after an acquire in the same instant is put there.
func (m *model) operations(ops []Op) []porcupine.Operation {
	var times []lockbench.Instant
	granted := map[int32]lockbench.Instant{}
	for _, op := range ops {
		times = append(times, op.Call, op.Return)
		if op.Kind == Acquire && op.Result == OK {
			granted[op.ID] = op.Return
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	rank := func(t lockbench.Instant) int64 {
		i, _ := slices.BinarySearch(times, t)
		return 2 * int64(i)
	}
	var out []porcupine.Operation
	for _, op := range ops {
		o := porcupine.Operation{ClientId: slices.Index(m.ids, op.ID), Call: rank(op.Call), Return: rank(op.Return)}
		if t, ok := granted[op.ID]; ok && op.Result == Lost && op.After && op.Call == t {
			o.Call++
			o.Return = max(o.Return, o.Call)
		}
		o.Input = move{op, o.ClientId}
		out = append(out, o)
	}
	return out
}

// next lists what the lock may be after the move: more than one state where the
// outcome is unknown, none where it can't happen.
func (m *model) next(held holders, mv move) []any {
	possible, after := held.has(mv.at), held.without(mv.at)
	if mv.Kind == Acquire {
		possible, after = !held.meets(m.against[mv.at]), held.with(mv.at)
	}
	switch {
	case mv.Kind == Expire || mv.Result == Unknown:
		if possible {
			return []any{held, after}
		}
		return []any{held}
	case mv.Result == Fail, mv.Result == Lost && !held.has(mv.at):
		return []any{held}
	case mv.Result == OK && possible:
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
		Init: func() []any { return []any{holders{}} },
		Step: func(state, input, _ any) []any { return m.next(state.(holders), input.(move)) },
	}).ToModel()
}
