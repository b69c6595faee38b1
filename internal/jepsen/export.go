package jepsen

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// What an exported history tells beside Jepsen's own operations, as those of its nemesis.
const (
	fHeader = "lockbench" // first: what follows is an export, of the version in :value
	fRenew  = "renew"
	fLost   = "lost"
	fSilent = "silent"
	fDead   = "dead"
	fEnd    = "end"
)

// exportVersion is that of the keys that Jepsen does not have.
const exportVersion = 1

// line is one operation on its way out.
type line struct {
	at  lb.Instant
	seq uint64 // among those of one instant
	op  []any  // keys and values; keywords are named values, instants are counted from the export's zero
}

// keyword is one of EDN.
type keyword string

// exporter turns an index into operations.
type exporter struct {
	ix *history.Index
	// from is the zero, before all that is told: a silence may have begun before the first event.
	from  lb.Instant
	lines []line
}

// Export writes what clients did with locks as a history of Jepsen in EDN, an operation a
// line. Each process does one thing at a time and is never used again after an :info, as
// Jepsen wants it. What Jepsen has no words for stands under keys of its own, which others
// may ignore: :client, :id (of the acquisition), :until (the end of the lease), :token and
// :shared; renewals, losses, silences and deaths are operations of the nemesis. [ReadFrom]
// makes of it a history with the same verdicts on grants and beliefs. Accesses of the
// protected store have no place in it.
func Export(w io.Writer, ix *history.Index) error {
	if len(ix.Doubts) > 0 {
		return fmt.Errorf("the history is not whole, which Jepsen's format can't say: %s", ix.Doubts[0])
	}
	e := &exporter{ix: ix, from: ix.Start - 1}
	for i := range ix.Acqs {
		e.acquisition(&ix.Acqs[i])
	}
	e.bench()
	slices.SortStableFunc(e.lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	b := bufio.NewWriter(w)
	header := line{e.from + 1, 0, []any{"type", keyword("info"), "f", keyword(fHeader), "process", keyword("nemesis"), "value", exportVersion}}
	processes := newProcesses(len(ix.Clients))
	for i, l := range append([]line{header}, e.lines...) {
		fmt.Fprint(b, map[bool]string{true: "[", false: "\n "}[i == 0])
		e.write(b, l, processes)
	}
	fmt.Fprintln(b, "]")
	return b.Flush()
}

// add adds an operation of the client, or of the nemesis.
func (e *exporter) add(at lb.Instant, seq uint64, op ...any) {
	e.from = min(e.from, at-1)
	for _, v := range op {
		if told, ok := v.(lb.Instant); ok {
			e.from = min(e.from, told-1)
		}
	}
	e.lines = append(e.lines, line{at, seq, op})
}

func (e *exporter) acquisition(a *history.Acquisition) {
	lock, id := e.ix.Locks[a.Lock], e.ix.ID(a)
	op := func(f, kind string, client int32, more ...any) []any {
		return append([]any{"type", keyword(kind), "f", keyword(f), "process", client, "value", value(lock), "id", id}, more...)
	}
	if a.Asked {
		var shared []any
		if a.Shared {
			shared = []any{"shared", true}
		}
		e.add(a.Call, 2*uint64(a.Order), op(history.OpAcquire, "invoke", a.Client, shared...)...)
		if a.Return < history.Forever {
			kind, more := completion(a.Result)
			if a.Until != 0 && a.Result == lb.AnswerOK {
				more = append(more, "until", a.Until)
			}
			if a.Token != 0 {
				more = append(more, "token", a.Token)
			}
			e.add(a.Return, 2*uint64(a.Order)+1, op(history.OpAcquire, kind, a.Client, append(more, shared...)...)...)
		}
	}
	for r := range e.ix.Releases(a) {
		e.add(r.Call, 2*uint64(r.Order), op(history.OpRelease, "invoke", r.Client)...)
		if r.Return < history.Forever {
			kind, more := completion(r.Result)
			e.add(r.Return, 2*uint64(r.Order)+1, op(history.OpRelease, kind, r.Client, more...)...)
		}
	}
	note := func(at lb.Instant, f string, more ...any) {
		e.add(at, 2*uint64(a.Order)+1, append([]any{"type", keyword("info"), "f", keyword(f), "process", keyword("nemesis"),
			"value", value(lock), "client", e.ix.ClientName(a), "id", id}, more...)...)
	}
	for r := range e.ix.Renewals(a) {
		note(r.At, fRenew, "until", r.Until)
	}
	if a.Lost < history.Forever {
		note(a.Lost, fLost)
	}
}

// bench adds what the nemesis did and what befell the processes.
func (e *exporter) bench() {
	const last = 1 << 60
	note := func(at lb.Instant, seq uint64, f string, more ...any) {
		e.add(at, seq, append([]any{"type", keyword("info"), "f", keyword(f), "process", keyword("nemesis")}, more...)...)
	}
	for i := range e.ix.Faults {
		if f := &e.ix.Faults[i]; f.Struck {
			note(f.Strike, 0, "start", "value", f.Name)
			if f.Healed < history.Forever {
				note(f.Healed, last, "stop", "value", f.Note)
			}
		}
	}
	for _, w := range e.ix.Workers {
		for _, s := range w.Silences {
			note(s.To, 0, fSilent, "worker", w.Name, "since", s.From)
		}
		if w.Dead < history.Forever {
			note(w.Dead, last, fDead, "worker", w.Name)
		}
	}
	if e.ix.Ended {
		note(e.ix.End, last+1, fEnd)
	}
}

// value names the lock as jepsen.independent does, where it is not the one that every test
// has.
func value(lock string) any {
	if lock == lockOf(nil) {
		return nil
	}
	return []any{lock, nil}
}

// completion is Jepsen's word for an answer, with what it leaves open.
func completion(a lb.Answer) (kind string, more []any) {
	switch a {
	case lb.AnswerOK:
		return "ok", nil
	case lb.AnswerFailed:
		return "fail", nil
	case lb.AnswerLost:
		return "fail", []any{"error", keyword("not-held")}
	case lb.AnswerReleased:
		return "info", []any{"error", keyword("released")}
	}
	return "info", nil
}

// processes give each client a number, and another when the last can't be used again: its
// operation ended with :info, or never.
type processes struct {
	of   []int
	open []bool
}

func newProcesses(clients int) *processes {
	p := &processes{open: make([]bool, clients)}
	for i := range clients {
		p.of = append(p.of, i)
	}
	return p
}

func (p *processes) number(client int32, kind keyword) int {
	if kind == "invoke" && p.open[client] {
		p.of[client] += len(p.of)
	}
	p.open[client] = kind == "invoke" || kind == "info"
	return p.of[client]
}

func (e *exporter) write(b *bufio.Writer, l line, p *processes) {
	kind := l.op[1].(keyword)
	fmt.Fprint(b, "{")
	for i := 0; i < len(l.op); i += 2 {
		key, v := l.op[i].(string), l.op[i+1]
		if client, ok := v.(int32); ok { // a process
			fmt.Fprintf(b, ":process %d, :client %s, ", p.number(client, kind), edn(e.ix.Clients[client].Name))
			continue
		}
		if told, ok := v.(lb.Instant); ok {
			v = int64(told - e.from)
		}
		fmt.Fprintf(b, ":%s %s, ", key, edn(v))
	}
	fmt.Fprintf(b, ":time %d}", l.at-e.from)
}

// edn writes a value. The escapes of JSON's strings are those of EDN.
func edn(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case keyword:
		return ":" + string(v)
	case []any:
		s := ""
		for i, x := range v {
			if i > 0 {
				s += " "
			}
			s += edn(x)
		}
		return "[" + s + "]"
	case string:
		text, _ := json.Marshal(v) // of a string it always succeeds
		return string(text)
	}
	return fmt.Sprint(v)
}
