package lockbench

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// Info describes an algorithm: what it is, where it comes from, what it claims
// and what must be expected of it.
type Info struct {
	// Name is the row's name, unique: "redis-setpx-lua".
	Name string
	// Doc says in one line what the algorithm does.
	Doc string
	// Source names the page, paper or library that defines it.
	Source string
	// Topologies it can run on; the first is the default.
	Topologies []string
	// Requests are the names of what it sends to servers, in the order of the
	// protocol, renewals and clean-up included: all that ever passes [Env.Send]. The
	// steps around each are before-NAME and after-NAME. The first is that by which every
	// acquisition begins, of a fresh client as of a used one: faults look there for
	// those who are about to ask. What a session sends once stands at the end.
	Requests []string
	// Takes is the request whose answer makes a client the holder.
	Takes string
	// Reads are the Requests that change nothing that an answer to another client depends on, and Own
	// those that touch nothing but the session of the client that sends them, such as a ping. Whatever is
	// named in neither may change the lock. Exploring leaves orders out by it, and holds it
	// against what the server says.
	Reads, Own []string
	// NoTry: it can't try, only wait; a request with Try is [ErrUnsupported].
	NoTry bool
	// Scripts: it runs scripts on the server, which may have forgotten them.
	Scripts bool
	// Tables: it keeps its locks in tables of the server, which may be altered.
	Tables bool
	// InMemory: its server writes nothing to a disk when it grants a lock or takes it back.
	InMemory bool
	// Copied: it grants nothing that no other server has, so that a leader that is cut off from the others grants
	// nothing.
	Copied bool
	// MinTTL is the shortest lease with which its faults make sense, 0 for any, because its server keeps an item for some
	// seconds more, whatever the lease. A run without a TTL of its own follows it; a benchmark strikes nobody, and does not.
	MinTTL time.Duration
	// OwnClock: a library measures by the machine's clock, which [Env] has no say in, how long answers
	// took.
	OwnClock bool
	// WallClock: a library tells the server by the machine's clock when a lease ends.
	WallClock bool
	// ByTheBook: it is a correct lock of the simplest kind on its first topology. What it does under
	// a fault, every lock of its kind does there, so it stands beside a user's own.
	ByTheBook bool
	// Program: it is a program of this machine, which each client starts.
	Program bool
	// Traits are what it claims.
	Traits Traits
	// Expect is what it is expected to do under faults. Faults that no entry
	// names are measured, but nothing is promised.
	Expect []Expectation
}

// The steps that every lock passes which sends requests: the client is within the call, by which it
// may have looked at its clock, and the first request of that is about to leave, whichever it is.
const (
	StepAcquiring = "acquiring"
	StepReleasing = "releasing"
)

// Steps are the points that its clients pass, in the order of the protocol.
func (i Info) Steps() (steps []string) {
	if len(i.Requests) > 0 {
		steps = append(steps, StepAcquiring, StepReleasing)
	}
	for _, r := range i.Requests {
		steps = append(steps, Before(r), After(r))
	}
	return steps
}

// Traits are an algorithm's claims, which the conformance suite holds it to.
type Traits struct {
	// Fenced: every grant carries a token greater than all before.
	Fenced bool `json:"fenced"`
	// Leased: a grant ends by itself after a TTL, and the client knows when.
	Leased bool `json:"leased"`
	// Renewing: the lease is renewed while it is held.
	Renewing bool `json:"renewing"`
	// Push: waiters are woken by the server; else they poll.
	Push bool `json:"push"`
	// Fair: granted in the order of arrival.
	Fair bool `json:"fair"`
	// Reentrant: a client that holds the lock may acquire it again.
	Reentrant bool `json:"reentrant"`
	// Shared: has a shared mode.
	Shared bool `json:"shared"`
	// Permits is how many may hold the lock at once, 0 for one. A lock of more is a semaphore: it has neither a shared
	// mode nor fencing tokens, and is not reentrant.
	Permits int `json:"permits,omitempty"`
	// Session: its locks end with a session of the client at the server, of which it
	// tells [Env.Session].
	Session bool `json:"session,omitempty"`
	// LostNotice: a holder is told when it lost the lock.
	LostNotice bool `json:"lost_notice"`
	// Leaves are what it leaves behind with each acquisition and means to, with commas between them:
	// connections, goroutines, threads, open files, or what its servers keep (keys, leases, nodes, rows, sessions).
	Leaves string `json:"leaves,omitempty"`
	// Fails is the share of its acquires, 0 to 1, that may end in an error while nothing is wrong, as where a
	// server ends one of two transactions that wait for each other; 0 is what is asked of every lock, one in a hundred.
	Fails float64 `json:"fails,omitempty"`
}

// AtOnce is how many may hold the lock at once.
func (t Traits) AtOnce() int { return max(1, t.Permits) }

// Semaphore reports whether several may hold the lock at once, each by a permit of its own.
func (t Traits) Semaphore() bool { return t.AtOnce() > 1 }

// Check says which of the claims can't go together, or nil. Of the holders of a semaphore the one with the lowest token may be in
// the right, so that no store can refuse by it.
func (t Traits) Check() error {
	switch {
	case t.Permits < 0:
		return fmt.Errorf("%d permits", t.Permits)
	case t.Semaphore() && (t.Shared || t.Reentrant || t.Fenced):
		return errors.New("a semaphore has neither a shared mode nor fencing tokens, and is not reentrant")
	}
	return nil
}

// Outlasts reports whether a holder keeps the lock for as long as it works, however long that is: its
// lease is renewed, it ends with its session, or it has none. A program that says nothing of a lease may have one.
func (i Info) Outlasts() bool {
	return i.Traits.Renewing || i.Traits.Session || !i.Traits.Leased && !i.Program
}

// Expectation is what an algorithm is expected to do under a fault. A run that
// disagrees breaks the gate both ways: a lock that was promised safe and broke,
// and a known hazard that is no longer found (the bench went blind).
type Expectation struct {
	// Fault is a fault's name or a glob of names.
	Fault string `json:"fault"`
	// Outcomes are the cells that agree with the expectation.
	Outcomes []Outcome `json:"outcomes"`
	// Reason is the mechanism a conviction must name; "" for any.
	Reason string `json:"reason,omitempty"`
	// Why explains it in a sentence, and Source says who says so.
	Why    string `json:"why,omitempty"`
	Source string `json:"source,omitempty"`
}

// Required is that nothing worse than care comes out of an algorithm that declares nothing.
func Required(fault string, care Outcome) *Expectation {
	return &Expectation{Fault: fault, Outcomes: UpTo(care), Why: "required of what declares nothing"}
}

// Expected is what the algorithm declares under the fault, nil for nothing: of several
// that match, the one that names it exactly counts, else the first glob. No glob names a list
// of faults.
func (i Info) Expected(fault string) (found *Expectation) {
	for _, e := range i.Expect {
		if e.Fault == fault {
			return &e
		}
		if match, err := path.Match(e.Fault, fault); err == nil && match && found == nil && !strings.Contains(fault, ",") {
			found = &e
		}
	}
	return found
}
