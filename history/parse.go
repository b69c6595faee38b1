package history

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unsafe"

	lb "github.com/lockbench/lockbench"
)

const header = `{"lockbench":"history","version":1}` + "\n"

// maxInstant is the largest time that a history may hold, 146 years: sums and
// differences of such times can't run over.
const maxInstant = lb.Instant(1) << 62

// field is one field of an event, as a bit.
type field uint32

const (
	fieldT field = 1 << iota
	fieldE
	fieldOp
	fieldClient
	fieldLock
	fieldID
	fieldShared
	fieldResult
	fieldToken
	fieldUntil
	fieldCall
	fieldRequests
	fieldWorker
	fieldName
	fieldPhase
	fieldBit
	fieldSeq
	fieldCopies
	fieldNote
)

// fieldNames are in the order of the bits.
var fieldNames = [...]string{"t", "e", "op", "client", "lock", "id", "shared", "result", "token", "until", "call",
	"requests", "worker", "name", "phase", "bit", "seq", "copies", "note"}

// fieldOf is the field of that name, or 0.
func fieldOf(name []byte) field {
	switch string(name) {
	case "t":
		return fieldT
	case "e":
		return fieldE
	case "op":
		return fieldOp
	case "client":
		return fieldClient
	case "lock":
		return fieldLock
	case "id":
		return fieldID
	case "shared":
		return fieldShared
	case "result":
		return fieldResult
	case "token":
		return fieldToken
	case "until":
		return fieldUntil
	case "call":
		return fieldCall
	case "requests":
		return fieldRequests
	case "worker":
		return fieldWorker
	case "name":
		return fieldName
	case "phase":
		return fieldPhase
	case "bit":
		return fieldBit
	case "seq":
		return fieldSeq
	case "copies":
		return fieldCopies
	case "note":
		return fieldNote
	}
	return 0
}

func (f field) String() string { return fieldNames[bits.TrailingZeros32(uint32(f))] }

// needs are the fields that an event of a kind can't do without.
var needs = map[lb.Kind]field{
	lb.KindCall:   fieldT | fieldOp | fieldClient | fieldLock | fieldID,
	lb.KindReturn: fieldT | fieldOp | fieldClient | fieldLock | fieldID | fieldResult,
	lb.KindRenew:  fieldT | fieldClient | fieldLock | fieldID | fieldUntil,
	lb.KindLost:   fieldT | fieldClient | fieldLock | fieldID,
	lb.KindWake:   fieldT | fieldClient | fieldName,
	lb.KindRead:   fieldT | fieldSeq | fieldClient | fieldLock | fieldID | fieldCopies,
	lb.KindWrite:  fieldT | fieldSeq | fieldClient | fieldLock | fieldID | fieldCopies,
	lb.KindStep:   fieldT | fieldClient | fieldID | fieldName,
	lb.KindSilent: fieldT | fieldWorker | fieldCall,
	lb.KindDead:   fieldT | fieldWorker,
	lb.KindFault:  fieldT | fieldName | fieldPhase,
	lb.KindEnd:    fieldT,
}

// The words of an event that are one of a few.
var (
	kindWords   = wordsOf(lb.KindCall, lb.KindReturn, lb.KindRenew, lb.KindLost, lb.KindWake, lb.KindRead, lb.KindWrite, lb.KindStep, lb.KindSilent, lb.KindDead, lb.KindFault, lb.KindEnd)
	opWords     = wordsOf(lb.OpAcquire, lb.OpRelease)
	resultWords = wordsOf(lb.OK, lb.Fail, lb.Unknown, lb.Lost)
	phaseWords  = wordsOf(PhaseStrike, PhaseHeal, PhaseHealed)
)

// The phases of a fault.
const (
	PhaseStrike = "strike"
	PhaseHeal   = "heal"
	PhaseHealed = "healed"
)

func wordsOf[T ~string](words ...T) map[string]T {
	m := map[string]T{}
	for _, w := range words {
		m[string(w)] = w
	}
	return m
}

// parser turns lines into events. What it returns refers to the line and to memory
// of its own, and is valid as long as both.
type parser struct {
	lexer
	copies []lb.CopyEffects
	seen   field
}

// event reads one line. It judges the line alone, see [sense] for the rest.
func (p *parser) event(line []byte, ev *lb.Event) error {
	p.line, p.pos, p.seen = line, 0, 0
	if err := p.object(func(key []byte) error { return p.field(key, ev) }); err != nil {
		return fmt.Errorf("not an event: %w", err)
	}
	if p.next() != 0 || p.pos < len(line) {
		return errors.New("not an event: there is more behind it")
	}
	return checkEvent(ev, p.seen)
}

func (p *parser) field(key []byte, ev *lb.Event) (err error) {
	f := fieldOf(key)
	if f == 0 {
		return p.skip(0)
	}
	if p.seen&f != 0 {
		return fmt.Errorf("%s is there twice", f)
	}
	p.seen |= f
	switch f {
	case fieldT:
		err = p.instant(&ev.At)
	case fieldE:
		err = oneOf(p, kindWords, &ev.Kind)
	case fieldOp:
		err = oneOf(p, opWords, &ev.Op)
	case fieldClient:
		err = p.string(&ev.Client)
	case fieldLock:
		err = p.string(&ev.Lock)
	case fieldID:
		err = p.string(&ev.ID)
	case fieldShared:
		ev.Shared, err = p.boolean()
	case fieldResult:
		err = oneOf(p, resultWords, &ev.Result)
	case fieldToken:
		err = p.count(&ev.Token)
	case fieldUntil:
		err = p.instant(&ev.Until)
	case fieldCall:
		err = p.instant(&ev.Call)
	case fieldRequests:
		var n int64
		if n, err = p.signed(); err == nil && n < 0 {
			err = fmt.Errorf("is %d", n)
		}
		ev.Requests = int(n)
	case fieldWorker:
		err = p.string(&ev.Worker)
	case fieldName:
		err = p.string(&ev.Name)
	case fieldPhase:
		err = p.string(&ev.Phase)
	case fieldBit:
		ev.Bit, err = p.boolean()
	case fieldSeq:
		err = p.count(&ev.Seq)
	case fieldCopies:
		ev.Copies, err = p.copyEffects()
	case fieldNote:
		err = p.string(&ev.Note)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f, err)
	}
	return nil
}

func (p *parser) string(to *string) error {
	s, err := p.text()
	*to = unsafe.String(unsafe.SliceData(s), len(s))
	return err
}

func oneOf[T ~string](p *parser, words map[string]T, to *T) error {
	s, err := p.text()
	if err != nil {
		return err
	}
	w, ok := words[string(s)]
	if !ok { // what is wrong with it is said when the kind is known
		w = T(s)
	}
	*to = w
	return nil
}

func (p *parser) instant(to *lb.Instant) error {
	n, err := p.signed()
	*to = lb.Instant(n)
	return err
}

// count reads a number from 1.
func (p *parser) count(to *uint64) error {
	n, negative, err := p.whole()
	if err == nil && (negative || n == 0) {
		err = errors.New("must be 1 or more")
	}
	*to = n
	return err
}

func (p *parser) copyEffects() (*lb.CopyEffects, error) {
	if len(p.copies) == cap(p.copies) { // what was handed out stays where it is
		p.copies = make([]lb.CopyEffects, 0, max(16, min(2*cap(p.copies), 4096)))
	}
	p.copies = append(p.copies, lb.CopyEffects{})
	c := &p.copies[len(p.copies)-1]
	there := map[string]bool{}
	err := p.object(func(key []byte) error {
		name := string(key)
		if there[name] {
			return fmt.Errorf("%s is there twice", name)
		}
		there[name] = true
		switch name {
		case "plain":
			return p.copyEffect(&c.Plain)
		case "checked":
			return p.copyEffect(&c.Checked)
		case "fenced":
			c.Fenced = &lb.CopyEffect{}
			return p.copyEffect(c.Fenced)
		}
		return p.skip(0)
	})
	if err == nil && !(there["plain"] && there["checked"]) {
		err = errors.New("need plain and checked")
	}
	return c, err
}

func (p *parser) copyEffect(c *lb.CopyEffect) error {
	var there field
	err := p.object(func(key []byte) (err error) {
		f := field(0)
		switch string(key) {
		case "value":
			f = 1
			c.Value, err = p.signed()
		case "base":
			f = 2
			c.Base, err = p.signed()
		case "new":
			f = 4
			c.New, err = p.signed()
		case "result":
			f = 8
			var s []byte
			s, err = p.text()
			c.Result = string(s)
		default:
			return p.skip(0)
		}
		if err == nil && there&f != 0 {
			err = errors.New("is there twice")
		}
		there |= f
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
	if err == nil && there&1 == 0 {
		err = errors.New("a copy needs value")
	}
	return err
}

// filled are the fields that are not zero.
func filled(ev *lb.Event) field {
	has := fieldT | fieldE
	set := func(f field, there bool) {
		if there {
			has |= f
		}
	}
	set(fieldOp, ev.Op != "")
	set(fieldClient, ev.Client != "")
	set(fieldLock, ev.Lock != "")
	set(fieldID, ev.ID != "")
	set(fieldResult, ev.Result != "")
	set(fieldUntil, ev.Until != 0)
	set(fieldCall, ev.Call != 0)
	set(fieldWorker, ev.Worker != "")
	set(fieldName, ev.Name != "")
	set(fieldPhase, ev.Phase != "")
	set(fieldSeq, ev.Seq != 0)
	set(fieldCopies, ev.Copies != nil)
	return has
}

// checkEvent refuses an event that makes no sense by itself. It has these fields.
func checkEvent(ev *lb.Event, has field) error {
	need, known := needs[ev.Kind]
	if !known {
		return fmt.Errorf("unknown kind of event %q", ev.Kind)
	}
	if missing := need &^ has; missing != 0 {
		return fmt.Errorf("%s needs %s", a(ev.Kind), missing&-missing)
	}
	if empty := need & (fieldClient | fieldLock | fieldID | fieldName | fieldWorker) &^ filled(ev); empty != 0 {
		return fmt.Errorf("%s needs %s, and it is empty", a(ev.Kind), empty&-empty)
	}
	switch {
	case ev.At < 0 || ev.At > maxInstant:
		return fmt.Errorf("t is %d, and not from 0 to 2^62", ev.At)
	case has&takes(ev.Kind)&fieldUntil != 0 && (ev.Until < 1 || ev.Until > maxInstant):
		return fmt.Errorf("until is %d, and not from 1 to 2^62", ev.Until)
	case has&takes(ev.Kind)&fieldCall != 0 && (ev.Call < 0 || ev.Call > maxInstant):
		return fmt.Errorf("call is %d, and not from 0 to 2^62", ev.Call)
	case has&takes(ev.Kind)&fieldCall != 0 && ev.Call > ev.At:
		return fmt.Errorf("call is after t: %d, %d", ev.Call, ev.At)
	}
	return checkWords(ev)
}

// takes are the instants beside t that a kind has; those of others are ignored.
func takes(kind lb.Kind) field {
	switch kind {
	case lb.KindReturn:
		return fieldUntil
	case lb.KindRenew:
		return fieldUntil | fieldCall
	case lb.KindSilent:
		return fieldCall
	}
	return 0
}

// a is the kind with its article.
func a(kind lb.Kind) string {
	if kind == lb.KindEnd {
		return "an end"
	}
	return "a " + string(kind)
}

func checkWords(ev *lb.Event) error {
	switch ev.Kind {
	case lb.KindCall, lb.KindReturn:
		if opWords[ev.Op] == "" {
			return fmt.Errorf("op %q is neither acquire nor release", ev.Op)
		}
		if ev.Kind == lb.KindCall {
			return nil
		}
		if resultWords[string(ev.Result)] == "" {
			return fmt.Errorf("result %q is not one of ok, fail, unknown, lost", ev.Result)
		}
		if ev.Op == lb.OpAcquire && ev.Result == lb.Lost {
			return errors.New("an acquire can't return lost: that is for releases")
		}
	case lb.KindFault:
		if phaseWords[ev.Phase] == "" {
			return fmt.Errorf("phase %q is not one of strike, heal, healed", ev.Phase)
		}
	case lb.KindRead, lb.KindWrite:
		return checkCopies(ev)
	}
	return nil
}

func checkCopies(ev *lb.Event) error {
	check := func(name string, c *lb.CopyEffect) error {
		d, ok := decisionOf(c.Result)
		switch {
		case !ok:
			return fmt.Errorf("%s: result %q is not one of landed, refused, skipped", name, c.Result)
		case ev.Kind == lb.KindWrite && d == NoDecision:
			return fmt.Errorf("%s: a write needs result", name)
		case ev.Kind == lb.KindRead && (d == Landed || d == Skipped):
			return fmt.Errorf("%s: a read can't be %s", name, c.Result)
		}
		return nil
	}
	err := errors.Join(check("plain", &ev.Copies.Plain), check("checked", &ev.Copies.Checked))
	if f := ev.Copies.Fenced; f != nil {
		err = errors.Join(err, check("fenced", f))
	}
	return err
}

func decisionOf(s string) (Decision, bool) {
	for d, name := range decisionNames {
		if s == name {
			return Decision(d), true
		}
	}
	return 0, false
}

// LineError is a line that makes no sense, in a file or, if File is "", in a slice
// of events, the first of which is line 2: that is how it would be written.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("event %d: %v", e.Line-1, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}
func (e *LineError) Unwrap() error { return e.Err }

// checkHeader wants the first line of a file.
func checkHeader(line []byte) error {
	var kind string
	version := int64(-1)
	p := &parser{lexer: lexer{line: line}}
	err := p.object(func(key []byte) (err error) {
		switch string(key) {
		case "lockbench":
			return p.string(&kind)
		case "version":
			version, err = p.signed()
			return err
		}
		return p.skip(0)
	})
	if err != nil || kind != "history" {
		return errors.New("not a lockbench history: its first line must be " + strings.TrimSpace(header))
	}
	if version != lb.HistoryVersion {
		return fmt.Errorf("history version %d; this lockbench reads version %d", version, lb.HistoryVersion)
	}
	return nil
}
