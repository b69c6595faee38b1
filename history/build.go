package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// Builder makes an [Index] of events, which may come in any order. It keeps about
// fifty bytes of each, and nothing of what it is given. The zero value is ready.
type Builder struct {
	ix      Index
	errs    ClockErrors
	files   []string
	clocks  []hostClock  // of the files
	lasts   []lb.Instant // of the files: when the last event is
	slack   lb.Instant   // how wrong clocks may be, however little that is taken for
	cut     []int        // the files whose recorder was stopped in the middle of a line
	chunks  [][]record
	count   int
	calls   int // of releases
	renewed int
	first   lb.Instant
	ordered bool // so far the events came in the order of their time
	end     record
	asked   int // for room, in millions of events

	locks, clients, workers numbers
	acqs                    acqTable
	faults                  []faultEvent
	acts                    []actEvent
	counts                  []Count
	woken                   []lb.Instant // by client
	names                   []string     // of steps and their phases
	notes                   notes        // of calls that failed
	// torn says that a recorder was killed while it wrote, or that its file is missing:
	// that explains what else is.
	torn bool
}

// record is one event as it waits to be put in order.
type record struct {
	at, until   lb.Instant
	x           uint64 // a token, or the call of a silence
	acq, client int32
	aux         int32 // where the rest of it is
	line        uint32
	file        uint16
	kind        recordKind
	flags       uint8
}

type recordKind uint8

const (
	recCallAcquire recordKind = iota
	recCallRelease
	recReturnAcquire
	recReturnRelease
	recRenew
	recLost
	recAccess
	recStep
	recSilent
	recDead
	recFault
	recAct
	recCount
	recFailed
	recEnd
)

const (
	flagShared uint8 = 1 << 3 // below it is the answer
	flagAnswer uint8 = 7
)

// chunkSize is how many records are kept in one piece.
const chunkSize = 1 << 14

// faultEvent is what a fault's record refers to.
type faultEvent struct {
	name, phase, note string
	proven            bool
}

// actEvent is what an act's record refers to.
type actEvent struct {
	name, target, fault, note string
	begins                    bool
}

// Add takes an event. The error is one of the event alone; what is wrong with the
// whole [Builder.Index] says.
func (b *Builder) Add(ev *Event) error {
	if len(b.files) == 0 {
		b.file("")
	}
	if err := checkEvent(ev, filled(ev), ""); err != nil {
		return &LineError{Line: b.count + 2, Err: err}
	}
	return b.add(ev, uint32(b.count+2))
}

// file begins to take the events of another file.
func (b *Builder) file(name string) {
	b.files, b.clocks, b.lasts = append(b.files, name), append(b.clocks, hostClock{}), append(b.lasts, 0)
}

// add takes an event that makes sense by itself, of the file that was named last.
func (b *Builder) add(ev *Event, line uint32) error {
	if b.count == 0 {
		b.first, b.ix.Last, b.ordered = ev.At, ev.At, true
	}
	b.count++
	b.ordered = b.ordered && ev.At >= b.ix.Last
	b.first, b.ix.Last = min(b.first, ev.At), max(b.ix.Last, ev.At)
	r := record{at: ev.At, until: ev.Until, acq: None, client: None, line: line, file: uint16(len(b.files) - 1)}
	if ev.Client != "" {
		r.client = b.clients.number(ev.Client)
	}
	if ev.Lock != "" && ev.ID != "" {
		r.acq = b.acqs.number(b.locks.number(ev.Lock), ev.ID)
		if len(b.acqs.ids) > 1<<32-1 {
			return b.lineError(&r, fmt.Errorf("the ids of all acquisitions are more than 4 GB of text"))
		}
	}
	switch ev.Kind {
	case KindCall, KindReturn:
		return b.addOperation(&r, ev)
	case KindRenew:
		r.kind = recRenew
		b.renewed++
	case KindLost:
		r.kind = recLost
	case KindRead, KindWrite:
		r.kind, r.aux = recAccess, int32(len(b.ix.Accesses))
		b.ix.Accesses = append(b.ix.Accesses, accessOf(ev, &r))
	case KindWake:
		b.woke(r.client, ev.At)
		if ev.Name == retryDelay {
			b.ix.Polls++
		} else {
			b.ix.Wakes++
		}
		return nil
	case KindStep:
		// Which lock it is about is known when the events are in order.
		r.kind, r.aux = recStep, int32(len(b.names))
		b.names = append(b.names, strings.Clone(ev.ID), strings.Clone(ev.Name), strings.Clone(ev.Phase))
	case KindSilent:
		r.kind, r.aux, r.x = recSilent, b.workers.number(ev.Worker), uint64(ev.Call)
	case KindDead:
		r.kind, r.aux = recDead, b.workers.number(ev.Worker)
	case KindFault:
		r.kind, r.aux = recFault, int32(len(b.faults))
		b.faults = append(b.faults, faultEvent{strings.Clone(ev.Name), ev.Phase, strings.Clone(ev.Note), ev.Proven})
	case KindAct:
		r.kind, r.aux = recAct, int32(len(b.acts))
		b.acts = append(b.acts, actEvent{strings.Clone(ev.Name), strings.Clone(ev.Target), strings.Clone(ev.Fault), strings.Clone(ev.Note), ev.Phase == PhaseBegin})
	case KindCount:
		r.kind, r.aux = recCount, int32(len(b.counts))
		b.counts = append(b.counts, Count{Name: strings.Clone(ev.Name), Target: strings.Clone(ev.Target), N: ev.Count})
	case KindFailed:
		r.kind, r.aux = recFailed, int32(len(b.names))
		b.names = append(b.names, strings.Clone(ev.Note))
	case KindEnd:
		r.kind = recEnd
	}
	b.keep(r)
	return nil
}

// woke notes when a client last did.
func (b *Builder) woke(client int32, at lb.Instant) {
	for len(b.woken) <= int(client) {
		b.woken = append(b.woken, 0)
	}
	b.woken[client] = max(b.woken[client], at)
}

// retryDelay is the name of the waits of algorithms that poll.
const retryDelay = "retry-delay"

func (b *Builder) addOperation(r *record, ev *Event) error {
	b.ix.Requests += ev.Requests
	r.x = ev.Token
	if ev.Kind == KindReturn {
		b.sent(ev)
		r.flags = uint8(ev.Result)
		if ev.Error {
			b.ix.Errors = append(b.ix.Errors, CallError{At: r.at, Acq: r.acq, Client: r.client, Release: ev.Op == OpRelease, Note: b.notes.once(ev.Note)})
		}
	}
	if ev.Shared {
		r.flags |= flagShared
	}
	switch release := ev.Op == OpRelease; {
	case ev.Kind == KindCall && release:
		r.kind = recCallRelease
		b.calls++
	case ev.Kind == KindCall:
		r.kind = recCallAcquire
	case release:
		r.kind = recReturnRelease
	default:
		r.kind = recReturnAcquire
	}
	b.keep(*r)
	for len(b.ix.Clients) < len(b.clients.name) {
		b.ix.Clients = append(b.ix.Clients, Client{Name: b.clients.name[len(b.ix.Clients)], Worker: None})
	}
	if ev.Kind == KindCall && ev.Worker != "" {
		c := &b.ix.Clients[r.client]
		w := b.workers.number(ev.Worker)
		if c.Worker != None && c.Worker != w {
			return b.lineError(r, fmt.Errorf("%s lived in the process %q before, not in %q", c.Name, b.workers.name[c.Worker], ev.Worker))
		}
		c.Worker = w
	}
	return nil
}

// sent takes what a return says of requests.
func (b *Builder) sent(ev *Event) {
	if ev.Sent != "" {
		for name := range strings.SplitSeq(ev.Sent, ",") {
			if i, there := slices.BinarySearch(b.ix.Sent, name); !there {
				b.ix.Sent = slices.Insert(b.ix.Sent, i, strings.Clone(name))
			}
		}
	}
	switch {
	case ev.Requests > 0 || ev.Result != lb.AnswerOK:
	case ev.Op == OpRelease:
		b.ix.Unasked.Releases++
	default:
		b.ix.Unasked.Grants++
	}
}

func (b *Builder) keep(r record) {
	if n := len(b.chunks); n == 0 || len(b.chunks[n-1]) == cap(b.chunks[n-1]) {
		b.chunks = append(b.chunks, make([]record, 0, min(chunkSize, max(16, 2*b.count))))
	}
	last := &b.chunks[len(b.chunks)-1]
	*last = append(*last, r)
}

func accessOf(ev *Event, r *record) Access {
	a := Access{At: ev.At, Seq: ev.Seq, Token: ev.Token, Acq: r.acq, Client: r.client, Write: ev.Kind == KindWrite,
		Plain: effectOf(&ev.Copies.Plain), Checked: effectOf(&ev.Copies.Checked), line: r.line, file: r.file}
	if f := ev.Copies.Fenced; f != nil {
		a.HasFenced, a.Fenced = true, effectOf(f)
	}
	return a
}

func effectOf(c *CopyEffect) Effect {
	return Effect{c.Value, c.Base, c.New, c.Result}
}

func (b *Builder) lineError(r *record, err error) *LineError {
	return &LineError{File: b.files[r.file], Line: int(r.line), Err: err}
}

// compare finds out how wrong the times of each file may be.
func (b *Builder) compare() error {
	for _, c := range b.clocks {
		b.ix.Error = max(b.ix.Error, c.err)
		if c != (hostClock{}) {
			b.ix.Clocks++
		}
		b.slack = max(b.slack, c.most)
	}
	last := b.ix.Last + b.ix.Error
	for i := range b.clocks {
		c := &b.clocks[i]
		c.err = max(c.err, c.behind(last))
		if b.ix.Error = max(b.ix.Error, c.err); c.first > 0 && c.first-c.err < 1 {
			return &LineError{b.files[i], 1, fmt.Errorf("with its clock's offset and error the time %d is out of range", c.first)}
		}
	}
	b.slack = max(b.slack, b.ix.Error)
	return nil
}

// inOrder puts the records in the order of their time; those of one instant stay in
// the order of the files and lines. Where clocks err, what a store or somebody who saw a
// death recorded is taken as late as it may have been: it came after what led to it.
func (b *Builder) inOrder() {
	if b.slack > 0 {
		b.ordered = false
		for _, chunk := range b.chunks {
			for i := range chunk {
				if k := chunk[i].kind; k == recAccess || k == recDead {
					chunk[i].at += 2*b.slack + 1
				}
			}
		}
	}
	if b.ordered {
		return
	}
	all := slices.Concat(b.chunks...)
	slices.SortFunc(all, func(x, y record) int {
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.file, y.file), cmp.Compare(x.line, y.line))
	})
	b.chunks = [][]record{all}
}
