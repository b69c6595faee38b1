package history

import (
	"cmp"
	"slices"

	lb "github.com/lockbench/lockbench"
)

// Index is a history that makes sense, arranged for those who read it. Clients,
// locks, workers and acquisitions are numbered from 0. Nothing in it may be changed.
type Index struct {
	// Start and Last are the times of the first and the last event, End that of the
	// end event, or Last where the run did not come to its end.
	Start, End, Last lb.Instant
	Ended            bool
	// Error is how wrong the clock of a recorder may be at most; 0 where all have one. Clocks is how many
	// recorders have one of their own.
	Error  lb.Instant
	Clocks int

	Locks   []string
	Clients []Client
	Workers []Worker
	// Acqs are the acquisitions in the order of their first events.
	Acqs []Acquisition
	// Accesses of the protected store, in the order in which it served them.
	Accesses []Access
	Faults   []Fault // in the order of their strikes
	Steps    []Step
	Acts     []Act     // in the order of their begins
	Counts   []Count   // in the order of time
	Failures []Failure // in the order of time
	Errors   []CallError
	// Wakes are waits that ended by a server's push, Polls those that ended by the
	// polling delay, Requests those that acquires and releases sent to servers.
	Wakes, Polls, Requests int

	// Sent names the requests that clients have sent, as far as they told. Unasked are the grants and the
	// releases, by [Release.Result] ok, for which no request was counted.
	Sent    []string
	Unasked struct{ Grants, Releases int }

	// Notes are what a reader should know about the recording itself. Doubts say why
	// nothing can be claimed: something is missing that a crash took away. Both call a file by its name
	// alone: they outlive the place where its directory lies.
	Notes, Doubts []string

	releases []Release
	renewals []Renewal
	left     map[int32]lb.Instant // acquires that were not answered before their client's next call
	ids      []byte
	byLock   [][]int32
}

// Client is one sequential participant.
type Client struct {
	Name   string
	Worker int32 // the process that it lives in, or None
	// Error is how wrong the clock of who recorded its calls may be.
	Error lb.Instant
	Woken lb.Instant // when a wait of its was last over; 0: never
}

// None is the number of nothing.
const None = int32(-1)

// Worker is a process of clients.
type Worker struct {
	Name     string
	Dead     lb.Instant // Forever: not
	Silences []Span     // when it did not run, in order
}

// Acquisition is everything that happened under one id of one lock.
type Acquisition struct {
	// Call and Return are those of the acquire. Call is 0 if nobody asked for it, and
	// only releases name it. Return is Forever if none was recorded.
	Call, Return lb.Instant
	Until        lb.Instant // as granted; 0: no end of its own
	Lost         lb.Instant // when the client first learned that it is gone; Forever: never
	Token        uint64
	Order        uint32 // of its call among all calls
	idOff, idLen uint32
	Client, Lock int32 // Client is None if nobody asked for it
	releases     int32 // the last of a ring in Index.releases, or None
	renewals     int32
	Result       lb.Answer
	Asked        bool
	Shared       bool
}

// Granted reports whether the acquire returned ok.
func (a *Acquisition) Granted() bool { return a.Asked && a.Result == lb.AnswerOK }

// Release is one attempt to give an acquisition back.
type Release struct {
	Call, Return lb.Instant // Return is Forever if none was recorded
	Client       int32
	next         int32  // of the last, the first
	Order        uint32 // of its call among all calls: what one client does in one instant it does in this order
	Result       lb.Answer
	// Own: its client is the acquisition's, and knew by then that it was granted.
	Own bool
}

// Renewal is one that was confirmed at At.
type Renewal struct {
	At, Until lb.Instant
	next      int32
	after     int32 // the last release that had been called by then
}

// Access is one of the protected store.
type Access struct {
	At          lb.Instant
	Seq, Token  uint64
	Acq, Client int32
	Write       bool
	HasFenced   bool
	Plain       Effect
	Checked     Effect
	Fenced      Effect

	line uint32
	file uint16
}

// Confirms reports whether a is a read by which its client relies on what it had read
// before: for a copy the base.
func (a *Access) Confirms() bool {
	relies := func(d Decision) bool { return d == Landed || d == Skipped }
	return !a.Write && (relies(a.Plain.Result) || relies(a.Checked.Result) || relies(a.Fenced.Result))
}

// Effect is what one access did to one copy, as [CopyEffect].
type Effect struct {
	Value, Base, New int64
	Result           Decision
}

// Decision is what became of a write to one copy.
type Decision uint8

// The decisions. A read has none, unless its token is too old or its client relies on an
// earlier one.
const (
	NoDecision Decision = iota
	Landed
	Refused
	Skipped
)

var decisionNames = [...]string{"", "landed", "refused", "skipped"}

func (d Decision) String() string { return decisionNames[d] }

// Fault is one strike, from its begin to its healing.
type Fault struct {
	Name string
	// Struck is false where the only event of it says that it did not. Heal is when
	// healing began, 0 if never; Healed when it was done, Forever if never.
	Struck               bool
	Strike, Heal, Healed lb.Instant
	// Proven says that the effect was measured, Note what.
	Proven bool
	Note   string
}

// Span is when it was in force.
func (f *Fault) Span() Span { return Span{f.Strike, f.Healed} }

// Act is something that the bench did to a process.
type Act struct {
	Name, Target string
	// Fault is the name of the fault that it was a part of, "" where that was not told.
	Fault string
	// End is Forever where it has not ended.
	Begin, End lb.Instant
	Note       string
}

// Count is how much of something there was at a process.
type Count struct {
	At           lb.Instant
	Name, Target string
	N            int
}

// CallError is a call of a lock that failed, and was neither refused nor given up by its caller.
type CallError struct {
	At      lb.Instant // of its return
	Acq     int32      // None where its call was not recorded
	Client  int32
	Release bool
	Note    string // how, "" where that was not told
}

// Failure is work of a client that could not be done: what it would have shown is missing.
type Failure struct {
	At     lb.Instant
	Client int32
	Note   string
}

// Step is a point of the protocol at which a fault caught a client.
type Step struct {
	At          lb.Instant
	Client, Acq int32 // Acq is None where it is not known
	Name, Phase string
}

// ID is the acquisition's id.
func (ix *Index) ID(a *Acquisition) string { return string(ix.ids[a.idOff:][:a.idLen]) }

// ClientName is who asked for the acquisition, "" if nobody did.
func (ix *Index) ClientName(a *Acquisition) string {
	if a.Client == None {
		return ""
	}
	return ix.Clients[a.Client].Name
}

// WorkerOf is the process that a client lives in, or nil.
func (ix *Index) WorkerOf(client int32) *Worker {
	if client == None || ix.Clients[client].Worker == None {
		return nil
	}
	return &ix.Workers[ix.Clients[client].Worker]
}

// Dead is when the client of a was killed, Forever if never.
func (ix *Index) Dead(a *Acquisition) lb.Instant {
	if w := ix.WorkerOf(a.Client); w != nil {
		return w.Dead
	}
	return Forever
}

// Waited is when the acquire of the nth acquisition ceased to wait: it returned, its
// client was killed or went on to something else, or the run ended.
func (ix *Index) Waited(n int32) lb.Instant {
	a := &ix.Acqs[n]
	until := min(a.Return, ix.Dead(a), max(ix.End, a.Call))
	if t, ok := ix.left[n]; ok {
		until = min(until, t)
	}
	return until
}

// SilentIn lists the stretches that overlap s in which the client's process did
// not run.
func (ix *Index) SilentIn(client int32, s Span) []Span {
	w := ix.WorkerOf(client)
	if w == nil {
		return nil
	}
	from, _ := slices.BinarySearchFunc(w.Silences, s.From, func(q Span, t lb.Instant) int { return cmp.Compare(q.To, t) })
	to := from
	for to < len(w.Silences) && w.Silences[to].From < s.To {
		to++
	}
	return slices.DeleteFunc(slices.Clone(w.Silences[from:to]), func(q Span) bool { return !q.Overlaps(s) })
}

// SilencesOf lists when the named process did not run, in order.
func (ix *Index) SilencesOf(process string) []Span {
	for i := range ix.Workers {
		if ix.Workers[i].Name == process {
			return ix.Workers[i].Silences
		}
	}
	return nil
}

// Releases of a, in the order of their calls.
func (ix *Index) Releases(a *Acquisition) func(yield func(*Release) bool) {
	return func(yield func(*Release) bool) {
		for i := a.releases; i != None; {
			i = ix.releases[i].next
			if !yield(&ix.releases[i]) || i == a.releases {
				return
			}
		}
	}
}

// Renewals of a, in the order of their confirmations.
func (ix *Index) Renewals(a *Acquisition) func(yield func(*Renewal) bool) {
	return func(yield func(*Renewal) bool) {
		for i := a.renewals; i != None; {
			i = ix.renewals[i].next
			if !yield(&ix.renewals[i]) || i == a.renewals {
				return
			}
		}
	}
}

// ByLock lists for each lock its acquisitions, in their order.
func (ix *Index) ByLock() [][]int32 { return ix.byLock }

// Find is the acquisition with that id of that lock, or nil. It looks at all of them.
func (ix *Index) Find(lock, id string) *Acquisition {
	for i := range ix.Acqs {
		a := &ix.Acqs[i]
		if int(a.idLen) == len(id) && ix.Locks[a.Lock] == lock && string(ix.ids[a.idOff:][:a.idLen]) == id {
			return a
		}
	}
	return nil
}
