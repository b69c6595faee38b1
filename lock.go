package lockbench

import (
	"context"
	"errors"
	"sync"
)

// Impl is one lock algorithm, ready to be tried against a real lock service.
type Impl interface {
	// Info describes the algorithm. It must not change between calls.
	Info() Info
	// Open connects one client to the lock service with a session of its own:
	// nothing that decides about a lock is shared between two Clients. It
	// keeps env for as long as the Client lives.
	Open(ctx context.Context, env *Env) (Client, error)
}

// Client is one participant. The bench calls Acquire and Release of one Client
// from one goroutine at a time.
type Client interface {
	// Acquire waits until the lock is granted or ctx ends. Its error tells what
	// the lock service may have done: see [AnswerOf].
	Acquire(ctx context.Context, req Request) (*Lease, error)
	// Release gives back what Acquire took for req. It is also called for a req
	// whose Acquire ended in an unknown outcome, to clean up. It returns nil
	// when this very acquisition held the lock until now, and ErrLost when the
	// lock service says that it did not (any more), or when all there was to give
	// back was a place in a queue. ErrReleased says that it certainly does not hold
	// the lock now, and that nothing tells whether it did until now: a release that is
	// sent again after a lost reply finds nothing, or somebody else.
	Release(ctx context.Context, req Request) error
	// Close ends the session. Locks still held are given up where the algorithm
	// ties them to the session.
	Close() error
}

// Validator is a [Client] of a library that its users ask, before they write, whether they still
// hold the lock. The bench's clients then ask it, too, instead of looking at the lease
// ([Lease.Valid]).
type Validator interface {
	// Valid reports whether the acquisition holds the lock, as the library says. With an error it
	// has not said, and who is careful does not write.
	Valid(ctx context.Context, req Request) (bool, error)
}

// Wrapper is a client around another.
type Wrapper interface {
	// Unwrap is the other one.
	Unwrap() Client
}

// ValidatorOf is the client as a [Validator], if it is one, or the one that it wraps, as a [Wrapper].
func ValidatorOf(c Client) (Validator, bool) {
	for c != nil {
		if v, ok := c.(Validator); ok {
			return v, true
		}
		w, ok := c.(Wrapper)
		if !ok {
			break
		}
		c = w.Unwrap()
	}
	return nil, false
}

// Request names one acquisition.
type Request struct {
	// Lock is the name of the lock: any bytes.
	Lock string
	// Owner identifies this acquisition among all of a run and is never reused.
	// Algorithms that have an owner value send exactly this to the server.
	Owner string
	// Try asks for an answer at once: ErrHeld where the lock is taken.
	Try bool
	// Shared asks for the shared (read) mode of a read-write lock.
	Shared bool
}

// The sentinels by which an algorithm tells what it knows. Every other error of
// Acquire or Release means that the outcome is unknown.
var (
	// ErrHeld: somebody else holds the lock; this request certainly took nothing.
	ErrHeld = errors.New("lockbench: lock is held by another")
	// ErrNoEffect: the request failed and certainly left nothing behind.
	ErrNoEffect = errors.New("lockbench: request had no effect")
	// ErrLost: the lock service says that this acquisition does not hold the lock.
	ErrLost = errors.New("lockbench: lock was not held any more")
	// ErrReleased: the lock is given back, but whether it was still held is not known.
	ErrReleased = errors.New("lockbench: released, perhaps long ago")
	// ErrNotSent: the request did not leave. Whether that means ErrNoEffect depends on
	// what was sent before it.
	ErrNotSent = errors.New("lockbench: request was not sent")
	// ErrUnsupported: the algorithm has no such mode. Nothing was sent.
	ErrUnsupported = errors.New("lockbench: not supported by this algorithm")
)

// Lease is what a client knows about a lock it was granted: how long, and with
// which fencing token. Algorithms make it with [Env.Grant], extend it when a
// renewal succeeded, and end it when they learn that the lock is gone. All
// methods may be called from any goroutine.
type Lease struct {
	// Request is the acquisition that was granted.
	Request Request
	// Token is the fencing token, 0 where the algorithm has none.
	Token uint64

	env  *Env
	mu   sync.Mutex
	end  Reading // 0: no bound known
	lost chan struct{}
	over bool
}

// Until is the time, by the clock of the client's host, up to which the client may rely on the lock, 0 where the
// algorithm gives no bound.
func (l *Lease) Until() Reading {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Lost is closed when the client learns that it lost the lock.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Valid reports whether the client, by all that it knows at this moment, still
// holds the lock. This is the look that the checked copy of the protected store
// takes before each write.
func (l *Lease) Valid() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over && (l.end == 0 || l.env.Clock.Mono() < l.end)
}

// Extend records a renewal that was sent at call and has been confirmed: the
// client may now rely on the lock until end. A lost lease stays lost.
func (l *Lease) Extend(call, end Reading) {
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return
	}
	l.end = end
	l.mu.Unlock()
	if p := l.env.Probe; p != nil {
		p.Renewed(l, call)
	}
}

// Lose records that the client learned, for the given reason, that the lock is
// gone. Only the first call counts.
func (l *Lease) Lose(reason string) {
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return
	}
	l.over = true
	close(l.lost)
	l.mu.Unlock()
	if p := l.env.Probe; p != nil {
		p.Lost(l, reason)
	}
}
