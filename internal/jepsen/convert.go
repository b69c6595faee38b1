package jepsen

import (
	"fmt"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// converter turns operations of processes into events of acquisitions.
type converter struct {
	reading   Reading
	history   history.Events
	now       lb.Instant
	processes map[string]*process
	serial    int  // of acquisitions
	struck    int  // how many faults of the nemesis are in force
	exact     bool // it is an export of lockbench
	// What the notes tell.
	ended, dropped, idle, other int
	unread                      []string // what the nemesis did beside start and stop
}

// process is one of Jepsen's, which does one thing at a time.
type process struct {
	pending *history.Event // its call
	locks   map[string]*hold
}

// hold is what a process has of one lock: the acquisition that its next release
// belongs to is one that was granted, or else one that may have been.
type hold struct{ granted, unclear *acquisition }

func (p *process) of(lock string) *hold {
	h := p.locks[lock]
	if h == nil {
		h = &hold{}
		p.locks[lock] = h
	}
	return h
}

// acquisition is where its events stand in the history.
type acquisition struct {
	id     string
	call   lb.Instant
	answer int // index of the return; -1: none
}

func newConverter(reading Reading) *converter {
	return &converter{reading: reading, processes: map[string]*process{}}
}

// take converts one operation.
func (c *converter) take(op map[string]any) error {
	kind, _ := op["type"].(string)
	if kind == "" {
		return fmt.Errorf("an operation without :type")
	}
	c.tick(op["time"])
	if op["process"] == nil {
		return fmt.Errorf("an operation without :process")
	}
	name := fmt.Sprint(op["process"])
	if _, client := op["process"].(int64); !client {
		if f := text(op["f"]); c.exact || f == fHeader {
			if err := c.bench(f, op); err != nil {
				return err
			}
		}
		c.nemesis(name, fmt.Sprint(op["f"]), op["value"])
		return nil
	}
	f, ok := map[any]string{"acquire": history.OpAcquire, "lock": history.OpAcquire, "release": history.OpRelease, "unlock": history.OpRelease}[word(op["f"])]
	if !ok {
		return fmt.Errorf("%v is not an operation of a lock: acquire or release", op["f"])
	}
	p := c.processes[name]
	if p == nil {
		p = &process{locks: map[string]*hold{}}
		c.processes[name] = p
	}
	if kind == "invoke" {
		return c.invoke(p, "process "+name, f, op)
	}
	if p.pending == nil || p.pending.Op != f {
		return fmt.Errorf("process %s ends a %s that it did not invoke", name, f)
	}
	ev := *p.pending
	p.pending = nil
	if c.exact {
		return c.answer(ev, kind, op)
	}
	if f == history.OpAcquire {
		return c.acquired(p, ev, kind)
	}
	return c.released(p, ev, kind, op["error"])
}

func word(v any) any {
	if s, ok := v.(string); ok {
		return s
	}
	return nil
}

// tick moves the clock: to the operation's own time, but always forward, so that
// the order of the file is the order of time.
func (c *converter) tick(v any) {
	t := c.now + 1
	if c.exact { // what happens in one instant is not ordered by its line
		t = c.now
	}
	if ns, ok := v.(int64); ok && ns < 1<<62 {
		t = max(t, lb.Instant(ns))
	}
	c.now = t
}

// nemesis notes a fault: Jepsen's start and stop, each of which may be there twice,
// as it begins and as it has been done.
func (c *converter) nemesis(who, f string, value any) {
	phase, ok := map[string]string{"start": "strike", "stop": "healed"}[f]
	if who == "nemesis" && !ok && !c.exact && !slices.Contains(c.unread, f) {
		c.unread = append(c.unread, f)
	}
	if !ok || who != "nemesis" {
		return
	}
	before := c.struck
	switch {
	case phase == "strike" && (c.exact || before == 0): // ours are there once each, and several may be in force
		c.struck++
	case phase == "healed" && before > 0:
		c.struck--
	}
	if (before > 0) == (c.struck > 0) {
		return
	}
	note := ""
	if value != nil {
		note = fmt.Sprint(value)
	}
	c.history = append(c.history, history.Event{At: c.now, Kind: history.KindFault, Name: who, Phase: phase, Note: note})
}

func (c *converter) invoke(p *process, client, op string, of map[string]any) error {
	value := of["value"]
	if p.pending != nil {
		return fmt.Errorf("%s invokes %s before its %s has ended", client, op, p.pending.Op)
	}
	ev := history.Event{At: c.now, Kind: history.KindCall, Op: op, Client: client, Lock: lockOf(value)}
	switch {
	case c.exact:
		ev.Client, ev.ID = text(of["client"]), text(of["id"])
		ev.Shared, _ = of["shared"].(bool)
		if ev.Client == "" || ev.ID == "" {
			return fmt.Errorf("an operation of an export of lockbench without :client or :id")
		}
	case op == history.OpRelease:
		if a := p.of(ev.Lock).last(); a != nil {
			ev.ID = a.id
		}
	}
	if ev.ID == "" {
		c.serial++
		ev.ID = fmt.Sprintf("a%d", c.serial)
	}
	p.pending = &ev
	c.history = append(c.history, ev)
	return nil
}

// lockOf is the key of a value that [jepsen.independent] made, for tests of many
// locks: a vector of key and value.
func lockOf(value any) string {
	if pair, ok := value.([]any); ok && len(pair) == 2 {
		if name := fmt.Sprint(pair[0]); name != "" {
			return name
		}
		return `""`
	}
	return "lock"
}

func (h *hold) last() *acquisition {
	if h.granted != nil {
		return h.granted
	}
	return h.unclear
}

func (c *converter) acquired(p *process, ev history.Event, kind string) error {
	a, h := &acquisition{id: ev.ID, call: ev.At, answer: len(c.history)}, p.of(ev.Lock)
	switch kind {
	case "ok":
		h.granted = a
	case "info":
		h.unclear = a
	}
	return c.answer(ev, kind, nil)
}

func (c *converter) released(p *process, ev history.Event, kind string, reason any) error {
	h := p.of(ev.Lock)
	switch {
	case kind == "ok" && h.granted != nil:
		h.granted = nil
	case kind == "ok":
		h.unclear = nil
	case kind != "fail":
	case h.granted == nil: // it held nothing, as far as it knew, and was told so
		c.idle++
	case !notHeld(reason):
		c.other++
	case c.reading == Ends:
		// The grant ended by itself, nobody knows when: from its call on its holder
		// could not rely on it.
		c.ended++
		c.history[h.granted.answer].Until = h.granted.call
		h.granted = nil
	default:
		c.dropped++
	}
	return c.answer(ev, kind, nil)
}

// notHeld reports whether a release failed because the lock was not held, by the
// words that lock services have for it. Without a reason it is taken to be that.
func notHeld(reason any) bool {
	if reason == nil {
		return true
	}
	said := strings.ToLower(fmt.Sprint(reason))
	for _, w := range []string{"not-held", "not held", "not-found", "not found", "not-owner", "not owner", "not-locked", "not locked"} {
		if strings.Contains(said, w) {
			return true
		}
	}
	return false
}

// answer appends the return of an operation, with what that says itself.
func (c *converter) answer(ev history.Event, kind string, op map[string]any) error {
	result, ok := map[string]lb.Answer{"ok": lb.AnswerOK, "fail": lb.AnswerFailed, "info": lb.AnswerUnknown}[kind]
	if !ok {
		return fmt.Errorf(":type %s is not one of invoke, ok, fail, info", kind)
	}
	ev.At, ev.Kind, ev.Result = c.now, history.KindReturn, result
	if op != nil {
		exactly(&ev, op)
	}
	c.history = append(c.history, ev)
	return nil
}

// notes explain the reading where there was something to read.
func (c *converter) notes() []string {
	if c.exact {
		return nil
	}
	notes := []string{"a history of Jepsen: an acquire and the releases of the same process that follow it are one acquisition"}
	add := func(n int, one, many string) {
		if n == 1 {
			notes = append(notes, "1 failed release "+one)
		} else if n > 1 {
			notes = append(notes, fmt.Sprintf("%d failed releases %s", n, many))
		}
	}
	const dropped = " dropped: the hold goes on, and a later grant breaks it. With --failed-release=ends it would count as the end of the hold, somewhere before"
	const ended = " as its end, somewhere before: that the hold had run out unnoticed is legal. With --failed-release=drop it would mean nothing, and the hold would go on"
	add(c.dropped, `("not held") of an open hold was`+dropped, `("not held") of open holds were`+dropped)
	add(c.ended, `("not held") of an open hold counts`+ended, `("not held") of open holds count`+ended)
	add(c.idle, "by a process that held nothing says nothing", "by processes that held nothing say nothing")
	add(c.other, `for another reason than "not held": the hold goes on in either reading`, `for other reasons than "not held": the holds go on in either reading`)
	if len(c.unread) > 0 {
		notes = append(notes, "the nemesis did what is not read as a fault: "+strings.Join(c.unread, ", "))
	}
	return notes
}
