package checker

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// Verify replays a witness against the operations: every operation that took
// effect must appear once, inside its own interval, in order, and each step must
// be one that a lock with owners can take, of which so many may hold it at once. It shares nothing with [Grant] but the
// operations, so that a mistake there does not pass here.
func Verify(ops []Op, w Witness, permits int) error {
	v := verifier{ops: ops, permits: permits, seen: make([]bool, len(ops)), mine: map[ownerLock]holdings{}}
	for _, op := range ops {
		for int(op.Lock) >= len(v.locks) {
			v.locks = append(v.locks, lockState{})
		}
		if n := int(op.ID) + 1; n > len(v.of) {
			v.of = append(v.of, make([]state, n-len(v.of))...)
		}
	}
	for i, p := range w {
		if err := v.step(p); err != nil {
			return fmt.Errorf("witness point %d at %d: %w", i, p.At, err)
		}
	}
	for i, op := range ops {
		if op.definite() && !v.seen[i] {
			return fmt.Errorf("operation %d took effect but the witness leaves it out", i)
		}
	}
	return nil
}

type verifier struct {
	ops     []Op
	permits int
	seen    []bool
	of      []state // by acquisition
	locks   []lockState
	mine    map[ownerLock]holdings
}

// state is how far an acquisition has come.
type state uint8

const (
	before state = iota
	holdingShared
	holdingAlone
	after
)

// holdings are how many acquisitions hold a lock, and how many of them not shared.
type holdings struct{ all, alone int }

type ownerLock struct{ owner, lock int32 }

type lockState struct {
	last  lb.Instant
	begun bool
	held  holdings
	// called are, of what was called in the instant of the last point, each client's last.
	called map[int32]uint32
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
	if p.At > l.last {
		clear(l.called)
	}
	l.begun, l.last = true, p.At
	if err := l.inTurn(op, p); err != nil {
		return err
	}
	of := v.of[op.ID]
	switch {
	case op.Result == Fail:
		return fmt.Errorf("operation %d had no effect", p.Op)
	case op.Kind == Acquire:
		return v.acquire(op, l)
	case op.After && of == before:
		return fmt.Errorf("operation %d lies before the grant that its client had seen", p.Op)
	case op.Result == Lost && (of == holdingShared || of == holdingAlone):
		return fmt.Errorf("acquisition %d is told that it lost a lock which it holds", op.ID)
	case op.Result == Lost, op.Result == Released && of != holdingShared && of != holdingAlone:
		return nil
	}
	return v.release(op, l)
}

// inTurn reports whether a client that does several things in an instant does them one after the
// other. What returned later may have taken effect in any order.
func (l *lockState) inTurn(op Op, p Point) error {
	if op.Client == 0 {
		return nil
	}
	if op.Return == p.At && l.called[op.Client] > op.Order {
		return fmt.Errorf("operation %d had returned when its client called one that lies before it", p.Op)
	}
	if op.Call == p.At {
		if l.called == nil {
			l.called = map[int32]uint32{}
		}
		l.called[op.Client] = max(l.called[op.Client], op.Order)
	}
	return nil
}

func (v *verifier) acquire(op Op, l *lockState) error {
	mine := holdings{}
	if op.Owner > 0 {
		mine = v.mine[ownerLock{op.Owner, op.Lock}]
	}
	switch {
	case v.of[op.ID] != before:
		return fmt.Errorf("acquisition %d takes lock %d again", op.ID, op.Lock)
	case v.permits > 1 && l.held.all >= v.permits:
		return fmt.Errorf("acquisition %d takes lock %d, all permits of which are held", op.ID, op.Lock)
	case v.permits <= 1 && (l.held.alone > mine.alone || !op.Shared && l.held.all > mine.all):
		return fmt.Errorf("acquisition %d takes lock %d which is held", op.ID, op.Lock)
	}
	v.of[op.ID] = holdingShared
	if !op.Shared {
		v.of[op.ID] = holdingAlone
	}
	v.count(op, l, +1)
	return nil
}

func (v *verifier) release(op Op, l *lockState) error {
	if of := v.of[op.ID]; of != holdingShared && of != holdingAlone {
		return fmt.Errorf("acquisition %d gives back lock %d which it does not hold", op.ID, op.Lock)
	}
	v.count(op, l, -1)
	v.of[op.ID] = after
	return nil
}

func (v *verifier) count(op Op, l *lockState, by int) {
	alone := 0
	if v.of[op.ID] == holdingAlone {
		alone = by
	}
	l.held = holdings{l.held.all + by, l.held.alone + alone}
	if op.Owner > 0 {
		key := ownerLock{op.Owner, op.Lock}
		mine := v.mine[key]
		v.mine[key] = holdings{mine.all + by, mine.alone + alone}
	}
}
