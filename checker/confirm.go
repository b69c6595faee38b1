package checker

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// confirmTime is far more than porcupine needs for a handful of operations.
const confirmTime = 2 * time.Second

// Linearizable asks porcupine whether the operations are linearizable for locks
// with owners. It takes time and memory that grow exponentially: it is for the
// few operations of a counterexample and for tests. At most 64 acquisitions.
func Linearizable(ops []Op, limit time.Duration) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(ownerModel, operations(ops), limit)
}

// confirmed reports whether porcupine finds the chosen operations illegal, too.
func confirmed(ops []Op, chosen []int32) bool {
	some := make([]Op, len(chosen))
	for i, c := range chosen {
		some[i] = ops[c]
	}
	return Linearizable(some, confirmTime) == porcupine.Illegal
}

func operations(ops []Op) []porcupine.Operation {
	var ids []int32
	var out []porcupine.Operation
	for _, op := range ops {
		if !slices.Contains(ids, op.ID) {
			ids = append(ids, op.ID)
		}
		op.ID = int32(slices.Index(ids, op.ID))
		out = append(out, porcupine.Operation{ClientId: int(op.ID), Input: op,
			Call: int64(op.Call), Return: int64(op.Return)})
	}
	return out
}

// lockModel is the state of one lock: the exclusive owner (0: none, else its id
// plus one) and a bit for each shared owner.
type lockModel struct {
	owner  int32
	shared uint64
}

func (s lockModel) held(op Op) bool { return s.owner == op.ID+1 || s.shared&(1<<op.ID) != 0 }

func (s lockModel) take(op Op) lockModel {
	if op.Shared {
		s.shared |= 1 << op.ID
	} else {
		s.owner = op.ID + 1
	}
	return s
}

func (s lockModel) free(op Op) lockModel {
	if s.owner == op.ID+1 {
		s.owner = 0
	}
	s.shared &^= 1 << op.ID
	return s
}

// next lists what the lock may be after op: more than one state where the
// outcome is unknown, none where op can't happen.
func (s lockModel) next(op Op) []any {
	possible := s.held(op)
	after := s.free(op)
	if op.Kind == Acquire {
		possible = s.owner == 0 && (s.shared == 0 || op.Shared)
		after = s.take(op)
	}
	switch {
	case op.Kind == Expire || op.Result == Unknown:
		if possible {
			return []any{s, after}
		}
		return []any{s}
	case op.Result == Fail, op.Result == Lost && !s.held(op):
		return []any{s}
	case op.Result == OK && possible:
		return []any{after}
	}
	return nil
}

var ownerModel = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var locks []int32
		var parts [][]porcupine.Operation
		for _, o := range history {
			lock := o.Input.(Op).Lock
			i := slices.Index(locks, lock)
			if i < 0 {
				i = len(locks)
				locks, parts = append(locks, lock), append(parts, nil)
			}
			parts[i] = append(parts[i], o)
		}
		return parts
	},
	Init: func() []any { return []any{lockModel{}} },
	Step: func(state, input, _ any) []any { return state.(lockModel).next(input.(Op)) },
}).ToModel()
