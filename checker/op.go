package checker

import (
	"math"

	"github.com/lockbench/lockbench"
)

// Forever is the return of an operation that may still take effect at any later
// time, and the end of a hold that was never given back.
const Forever = lockbench.Instant(math.MaxInt64)

// Op is one operation on a lock as the grant check sees it: 32 bytes, no
// strings, so that ten millions of them fit into memory.
type Op struct {
	// Call and Return are the closed interval in which the operation took
	// effect. Return is Forever if Result is Unknown.
	Call, Return lockbench.Instant
	// ID is the acquisition, Lock the lock; both are small numbers from 0.
	ID, Lock int32
	Kind     OpKind
	Result   OpResult
	// Shared is set on the acquire of the shared mode.
	Shared bool
}

// OpKind says what an operation does.
type OpKind uint8

// The kinds of operations.
const (
	Acquire OpKind = iota
	Release
	// Expire is the end of a lease: from Call on the lock may be free without
	// any release. It is an unknown release that nobody sent.
	Expire
)

// OpResult says how an operation ended.
type OpResult uint8

// The results of operations, as in [lockbench.Result].
const (
	OK OpResult = iota
	Fail
	Unknown
	Lost
)

// definite reports whether the operation certainly saw the lock at some instant
// between its call and its return, so that a witness must place it.
func (o Op) definite() bool {
	return o.Kind != Expire && (o.Result == OK || o.Result == Lost)
}

func resultOf(r lockbench.Result) OpResult {
	switch r {
	case lockbench.OK:
		return OK
	case lockbench.Fail:
		return Fail
	case lockbench.Lost:
		return Lost
	}
	return Unknown
}
