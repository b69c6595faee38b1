package history

import (
	lb "github.com/lockbench/lockbench"
)

// Version is the version of the event format in docs/history.md. VersionOfClocks is that of
// files whose recorder has a clock of its own, which may drift; nothing else differs in them.
const (
	Version         = 1
	VersionOfClocks = 2
)

// Kind says what an event tells.
type Kind string

// Store is the name by which the protected store tells of a time in which it did not answer.
const Store = "store"

// The kinds of events. docs/history.md describes each with its fields.
const (
	KindCall   Kind = "call"   // a client is about to send Op
	KindReturn Kind = "return" // Op has ended with Outcome
	KindRenew  Kind = "renew"  // a lease was extended
	KindLost   Kind = "lost"   // a client learned that its lock is gone
	KindWake   Kind = "wake"   // a client's wait for something (Name) is over
	KindRead   Kind = "read"   // the protected store served a read
	KindWrite  Kind = "write"  // the protected store decided on a write
	KindStep   Kind = "step"   // a client was caught at a step
	KindSilent Kind = "silent" // a worker process, or the store, did not run for a while
	KindDead   Kind = "dead"   // a worker process was killed
	KindFault  Kind = "fault"  // a fault begins or ends (Phase)
	KindAct    Kind = "act"    // the bench begins or has ended to do something (Name) to a process (Target)
	KindCount  Kind = "count"  // how much of something (Name) there is at a process (Target) now
	KindFailed Kind = "failed" // the bench's own work of a client failed, or a lock panicked: evidence is missing
	KindEnd    Kind = "end"    // the run was asked to stop
)

// The operations of call and return events.
const (
	OpAcquire = "acquire"
	OpRelease = "release"
)

// Event is one line of a history. Which fields a kind uses is written in
// docs/history.md; the rest stay zero.
type Event struct {
	At     lb.Instant `json:"t"`
	Kind   Kind       `json:"e"`
	Op     string     `json:"op,omitempty"`
	Client string     `json:"client,omitempty"`
	Lock   string     `json:"lock,omitempty"`
	// ID is the acquisition that the event belongs to.
	ID     string     `json:"id,omitempty"`
	Shared bool       `json:"shared,omitempty"`
	Result lb.Answer  `json:"result,omitempty"`
	Token  uint64     `json:"token,omitempty"`
	Until  lb.Instant `json:"until,omitempty"`
	Call   lb.Instant `json:"call,omitempty"`
	// Requests is how many requests the operation sent to servers.
	Requests int `json:"requests,omitempty"`
	// Sent names the requests that the client has sent for the first time since its last return,
	// with commas between them.
	Sent string `json:"sent,omitempty"`
	// Worker is the process that a silent or dead event is about, or that a client
	// says in a call that it lives in.
	Worker string `json:"worker,omitempty"`
	// Name is a fault's or a step's name.
	Name  string `json:"name,omitempty"`
	Phase string `json:"phase,omitempty"`
	// Target is what an act was done to, and Fault the name of the fault that it is a part of.
	Target string `json:"target,omitempty"`
	Fault  string `json:"fault,omitempty"`
	// Count is how much of it there is.
	Count int `json:"count,omitempty"`
	// Proven says of an ended fault that its effect was measured.
	Proven bool `json:"proven,omitempty"`
	// Error says of a return that it is no answer of the lock's: what was called failed, and was
	// neither refused nor given up by its caller. Note says how.
	Error  bool         `json:"error,omitempty"`
	Seq    uint64       `json:"seq,omitempty"`
	Copies *CopyEffects `json:"copies,omitempty"`
	Note   string       `json:"note,omitempty"`
}

// CopyEffects is what one access did to each copy of the protected store.
type CopyEffects struct {
	Plain   CopyEffect  `json:"plain"`
	Checked CopyEffect  `json:"checked"`
	Fenced  *CopyEffect `json:"fenced,omitempty"`
}

// CopyEffect is what one access did to one copy.
type CopyEffect struct {
	// Value before the access.
	Value int64 `json:"value"`
	// Base is the value that the writer had read.
	Base int64 `json:"base,omitempty"`
	// New is the value written, if Result is landed.
	New int64 `json:"new,omitempty"`
	// Result of a write: landed, refused (by its token) or skipped (by the
	// client's own look at its lease).
	Result Decision `json:"result,omitempty"`
}

// Events are what happened in one run, ordered by time.
type Events []Event
