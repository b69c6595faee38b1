package checker

import (
	"fmt"

	"github.com/lockbench/lockbench"
)

// Verify replays a witness against the operations: every operation that took
// effect must appear once, inside its own interval, in order, and each step must
// be one that a lock with owners can take. It shares nothing with [Grant] but the
// operations, so that a mistake there does not pass here.
func Verify(ops []Op, w Witness) error {
	v := verifier{ops: ops, seen: make([]bool, len(ops))}
	for _, op := range ops {
		for int(op.Lock) >= len(v.locks) {
			v.locks = append(v.locks, lockState{})
		}
		if n := int(op.ID) + 1; n > len(v.holding) {
			v.holding = append(v.holding, make([]bool, n-len(v.holding))...)
		}
	}
	for i, p := range w {
		if err := v.step(p); err != nil {
			return fmt.Errorf("checker: witness point %d at %d: %w", i, p.At, err)
		}
	}
	for i, op := range ops {
		if op.definite() && !v.seen[i] {
			return fmt.Errorf("checker: operation %d took effect but the witness leaves it out", i)
		}
	}
	return nil
}

type verifier struct {
	ops     []Op
	seen    []bool
	holding []bool // by acquisition
	locks   []lockState
}

type lockState struct {
	last      lockbench.Instant
	begun     bool
	readers   int
	exclusive bool
}

func (v *verifier) step(p Point) error {
	if p.Op < 0 || int(p.Op) >= len(v.ops) {
		return fmt.Errorf("there is no operation %d", p.Op)
	}
	if v.seen[p.Op] {
		return fmt.Errorf("operation %d appears twice", p.Op)
	}
	v.seen[p.Op] = true
	op, l := v.ops[p.Op], &v.locks[v.ops[p.Op].Lock]
	if p.At < op.Call || p.At > op.Return {
		return fmt.Errorf("operation %d lies outside its interval", p.Op)
	}
	if l.begun && p.At < l.last {
		return fmt.Errorf("operation %d lies before the point in front of it", p.Op)
	}
	l.begun, l.last = true, p.At
	switch {
	case op.Result == Fail:
		return fmt.Errorf("operation %d had no effect", p.Op)
	case op.Kind == Acquire:
		return v.acquire(op, l)
	case op.Result == Lost:
		if v.holding[op.ID] {
			return fmt.Errorf("acquisition %d is told that it lost a lock which it holds", op.ID)
		}
		return nil
	}
	return v.release(op, l)
}

func (v *verifier) acquire(op Op, l *lockState) error {
	switch {
	case v.holding[op.ID]:
		return fmt.Errorf("acquisition %d takes lock %d again", op.ID, op.Lock)
	case l.exclusive, l.readers > 0 && !op.Shared:
		return fmt.Errorf("acquisition %d takes lock %d which is held", op.ID, op.Lock)
	case op.Shared:
		l.readers++
	default:
		l.exclusive = true
	}
	v.holding[op.ID] = true
	return nil
}

func (v *verifier) release(op Op, l *lockState) error {
	if !v.holding[op.ID] {
		return fmt.Errorf("acquisition %d gives back lock %d which it does not hold", op.ID, op.Lock)
	}
	v.holding[op.ID] = false
	if l.exclusive {
		l.exclusive = false
	} else {
		l.readers--
	}
	return nil
}
