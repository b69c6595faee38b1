package history

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// sense goes through the events in their order, refuses what makes no sense in a
// history as a whole, and arranges the rest.
type sense struct {
	*Builder
	open   []open // by client
	called uint32
	number []int32 // of the acquisitions, from that of the builder to that of the index
}

// open is a client's call that has not been answered, and what it asked for last.
type open struct {
	op      recordKind // recCallAcquire, recCallRelease, or recEnd for none
	acq     int32
	release int32
	lastAcq int32
}

// Index arranges what was added. The error is a *[LineError], and of the history as a
// whole; afterwards the builder is of no use any more.
func (b *Builder) Index() (*Index, error) {
	ix := &b.ix
	if len(b.files) == 0 {
		b.file("")
	}
	if err := b.compare(); err != nil {
		return nil, err
	}
	b.inOrder()
	ix.Start, ix.End = b.first, ix.Last-ix.Error
	for _, i := range b.cut {
		if b.lasts[i] < ix.Last {
			ix.Doubts = append(ix.Doubts, filepath.Base(b.files[i])+" was cut short, and others went on: what its recorder saw then is not known")
		}
	}
	b.meet()
	s := sense{Builder: b, number: slices.Repeat([]int32{None}, len(b.acqs.refs)),
		open: slices.Repeat([]open{{op: recEnd, acq: None, release: None, lastAcq: None}}, len(ix.Clients))}
	ix.Acqs, ix.ids = make([]Acquisition, 0, len(b.acqs.refs)), b.acqs.ids
	ix.releases, ix.renewals = make([]Release, 0, b.calls), make([]Renewal, 0, b.renewed)
	b.acqs.slots = nil
	for i, chunk := range b.chunks {
		for k := range chunk {
			if err := s.take(&chunk[k]); err != nil {
				line := b.lineError(&chunk[k], err)
				if !b.torn {
					return nil, line
				}
				line.File = filepath.Base(line.File)
				ix.Doubts = append(ix.Doubts, "something was not recorded: "+line.Error())
				ix.Accesses = nil
				s.tellErrors()
				ix.arrange()
				return ix, nil
			}
		}
		b.chunks[i] = nil // its memory is needed
	}
	b.acqs.refs = nil
	s.tellErrors()
	for i := range ix.Accesses {
		e := &ix.Accesses[i]
		e.Acq, e.At = s.number[e.Acq], s.clocks[e.file].widen(e.At, false)
	}
	if err := ix.orderAccesses(); err != nil {
		a := err.(*accessError).a
		return nil, b.lineError(&record{file: a.file, line: a.line}, err)
	}
	for i := range ix.Workers {
		ix.Workers[i].Silences = Union(ix.Workers[i].Silences)
	}
	ix.arrange()
	return ix, nil
}

// tellErrors says of each error which acquisition it is of.
func (s *sense) tellErrors() {
	for i := range s.ix.Errors {
		e := &s.ix.Errors[i]
		e.Acq = s.number[e.Acq]
	}
}

// meet gives every client its process.
func (b *Builder) meet() {
	ix := &b.ix
	for len(ix.Clients) < len(b.clients.name) {
		ix.Clients = append(ix.Clients, Client{Name: b.clients.name[len(ix.Clients)], Worker: None})
	}
	for i := range ix.Clients {
		c := &ix.Clients[i]
		if i < len(b.woken) {
			c.Woken = b.woken[i]
		}
		if w := WorkerName(c.Name); c.Worker == None && w != "" {
			c.Worker = b.workers.number(w)
		}
	}
	for _, name := range b.workers.name {
		ix.Workers = append(ix.Workers, Worker{Name: name, Dead: Forever})
	}
	ix.Locks = b.locks.name
}

// WorkerName is the process of a client that never says it: what stands before the
// last dot of its name.
func WorkerName(client string) string {
	return client[:max(0, strings.LastIndexByte(client, '.'))]
}

func (s *sense) take(r *record) error {
	ix := &s.ix
	clock := s.clocks[r.file]
	switch r.kind {
	case recFault:
		e := s.faults[r.aux]
		ix.fault(clock.widen(r.at, e.phase == PhaseHealed), e)
		return nil
	case recAct:
		e := s.acts[r.aux]
		ix.act(clock.widen(r.at, !e.begins), e)
		return nil
	case recCount:
		c := s.counts[r.aux]
		c.At = clock.widen(r.at, false)
		ix.Counts = append(ix.Counts, c)
		return nil
	case recFailed:
		ix.Failures = append(ix.Failures, Failure{r.at, r.client, s.names[r.aux]})
		return nil
	case recEnd:
		if ix.Ended {
			return fmt.Errorf("the run ended before, at line %d", s.end.line)
		}
		s.end, ix.End, ix.Ended = *r, clock.widen(r.at, false), true
		return nil
	case recSilent:
		w := &ix.Workers[r.aux]
		w.Silences = append(w.Silences, Span{clock.widen(lb.Instant(r.x), false), clock.widen(r.at, true)})
		return nil
	case recDead:
		w := &ix.Workers[r.aux]
		at := r.at
		if s.slack > 0 {
			at -= 2*s.slack + 1 // see inOrder
		}
		w.Dead = min(w.Dead, clock.widen(at, false))
		return nil
	case recStep:
		s.step(r)
		return nil
	case recAccess:
		_, err := s.asked(r)
		return err
	}
	if w := ix.WorkerOf(r.client); w != nil && w.Dead < Forever {
		return fmt.Errorf("%s does something after its process was killed", ix.Clients[r.client].Name)
	}
	switch r.kind {
	case recCallAcquire:
		return s.callAcquire(r)
	case recCallRelease:
		return s.callRelease(r)
	case recReturnAcquire, recReturnRelease:
		return s.answer(r)
	}
	at := clock.widen(r.at, false)
	a, err := s.asked(r)
	if err != nil {
		return err
	}
	if r.kind == recLost {
		a.Lost = min(a.Lost, at)
		return nil
	}
	a.renewals = ring(&ix.renewals, a.renewals, Renewal{At: at, Until: clock.widen(r.until, false), after: a.releases}, func(rn *Renewal) *int32 { return &rn.next })
	return nil
}

// ring appends to a ring in list, whose last element is at the index last, and
// returns the index of the new last one.
func ring[T any](list *[]T, last int32, v T, next func(*T) *int32) int32 {
	i := int32(len(*list))
	if *list = append(*list, v); last == None {
		*next(&(*list)[i]) = i
		return i
	}
	*next(&(*list)[i]) = *next(&(*list)[last])
	*next(&(*list)[last]) = i
	return i
}

// acq is the acquisition of a record. It makes it where it is the first of it.
func (s *sense) acq(r *record) (int32, *Acquisition) {
	ix := &s.ix
	n := s.number[r.acq]
	if n == None {
		n = int32(len(ix.Acqs))
		s.number[r.acq] = n
		ref := s.acqs.refs[r.acq]
		ix.Acqs = append(ix.Acqs, Acquisition{Return: Forever, Lost: Forever, idOff: ref.off, idLen: ref.len, Client: None, Lock: ref.lock,
			releases: None, renewals: None, Result: lb.AnswerUnknown})
	}
	return n, &ix.Acqs[n]
}

// asked is the acquisition of a record that needs one that was asked for by its
// client.
func (s *sense) asked(r *record) (*Acquisition, error) {
	if n := s.number[r.acq]; n != None && s.ix.Acqs[n].Asked {
		if a := &s.ix.Acqs[n]; a.Client == r.client {
			return a, nil
		}
		return nil, fmt.Errorf("the acquisition %q is not %s's", s.acqs.text(r.acq), s.ix.Clients[r.client].Name)
	}
	return nil, fmt.Errorf("nobody has asked for the acquisition %q of the lock %q", s.acqs.text(r.acq), s.ix.Locks[s.acqs.refs[r.acq].lock])
}

func (s *sense) callAcquire(r *record) error {
	n, a := s.acq(r)
	if a.Asked {
		return fmt.Errorf("the acquisition %q was asked for before; an id must not be used again", s.acqs.text(r.acq))
	}
	s.called++
	a.Asked, a.Order, a.Call, a.Client, a.Shared = true, s.called, s.clocks[r.file].widen(r.at, false), r.client, r.flags&flagShared != 0
	s.leave(r)
	s.open[r.client] = open{op: recCallAcquire, acq: n, release: None, lastAcq: n}
	return nil
}

func (s *sense) callRelease(r *record) error {
	n, a := s.acq(r)
	own := a.Client == r.client && a.Granted()
	s.called++
	a.releases = ring(&s.ix.releases, a.releases, Release{Order: s.called, Call: s.clocks[r.file].widen(r.at, false), Return: Forever, Client: r.client, Result: lb.AnswerUnknown, Own: own},
		func(rel *Release) *int32 { return &rel.next })
	s.leave(r)
	o := &s.open[r.client]
	o.op, o.acq, o.release = recCallRelease, n, a.releases
	return nil
}

// leave notes that a client which makes another call waits no more for the answer to
// its last one, and by what clock it calls.
func (s *sense) leave(r *record) {
	c := &s.ix.Clients[r.client]
	c.Error = max(c.Error, s.clocks[r.file].err)
	if o := &s.open[r.client]; o.op == recCallAcquire {
		if s.ix.left == nil {
			s.ix.left = map[int32]lb.Instant{}
		}
		s.ix.left[o.acq] = s.clocks[r.file].widen(r.at, false)
	}
}

// answer takes a return: it answers the last call of its client.
func (s *sense) answer(r *record) error {
	o := &s.open[r.client]
	name, id := s.ix.Clients[r.client].Name, s.acqs.text(r.acq)
	op := recCallAcquire
	if r.kind == recReturnRelease {
		op = recCallRelease
	}
	switch {
	case o.op == recEnd:
		return fmt.Errorf("nothing that %s has called is open, and a return answers a call", name)
	case o.op != op || o.acq != s.number[r.acq]:
		return fmt.Errorf("the return does not answer the last call of %s: that is the %s of %q, not the %s of %q", name,
			opName(o.op), s.ix.ID(&s.ix.Acqs[o.acq]), opName(op), id)
	}
	o.op = recEnd
	result := lb.Answer(r.flags & flagAnswer)
	if op == recCallRelease {
		rel := &s.ix.releases[o.release]
		rel.Return, rel.Result = s.clocks[r.file].widen(r.at, true), result
		return nil
	}
	a := &s.ix.Acqs[o.acq]
	if r.flags&flagShared != 0 && !a.Shared {
		return fmt.Errorf("the acquire of %q was called as an exclusive one and returns as a shared one", id)
	}
	a.Return, a.Result = s.clocks[r.file].widen(r.at, true), result
	if result == lb.AnswerOK {
		a.Token, a.Until = r.x, r.until
		if a.Until != 0 {
			a.Until = s.clocks[r.file].widen(a.Until, false)
		}
	}
	return nil
}

func opName(k recordKind) string {
	if k == recCallRelease {
		return OpRelease
	}
	return OpAcquire
}

func (s *sense) step(r *record) {
	st := Step{At: r.at, Client: r.client, Acq: None, Name: s.names[r.aux+1], Phase: s.names[r.aux+2]}
	if n := s.open[r.client].lastAcq; n != None && s.ix.ID(&s.ix.Acqs[n]) == s.names[r.aux] {
		st.Acq = n
	}
	s.ix.Steps = append(s.ix.Steps, st)
}

// arrange lists the acquisitions of each lock.
func (ix *Index) arrange() {
	counts := make([]int, len(ix.Locks))
	for i := range ix.Acqs {
		counts[ix.Acqs[i].Lock]++
	}
	all := make([]int32, len(ix.Acqs))
	ix.byLock = make([][]int32, len(ix.Locks))
	for lock, n := range counts {
		ix.byLock[lock], all = all[:0:n], all[n:]
	}
	for i := range ix.Acqs {
		lock := ix.Acqs[i].Lock
		ix.byLock[lock] = append(ix.byLock[lock], int32(i))
	}
}
