package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

const header = `{"lockbench":"history","version":1}` + "\n"

// maxInstant is the largest time that a history may hold, 146 years: sums and
// differences of such times can't run over.
const maxInstant = lb.Instant(1) << 62

// parser turns lines into events. What it returns refers to the line and to memory
// of its own, and is valid as long as both.
type parser struct {
	lexer
	copies []CopyEffects
	seen   field
	odd    string // a word that is none
}

// event reads one line. It judges the line alone, see [sense] for the rest.
func (p *parser) event(line []byte, ev *Event) error {
	p.line, p.pos, p.seen, p.odd = line, 0, 0, ""
	if err := p.object(func(key []byte) error { return p.field(key, ev) }); err != nil {
		return fmt.Errorf("not an event: %w", err)
	}
	if p.next() != 0 || p.pos < len(line) {
		return errors.New("not an event: there is more behind it")
	}
	if ev.Kind != KindReturn { // what a kind does not have is ignored, were it no word at all
		ev.Result = 0
	}
	if ev.Kind != KindRead && ev.Kind != KindWrite {
		ev.Copies = nil
	}
	return checkEvent(ev, p.seen, p.odd)
}

func (p *parser) field(key []byte, ev *Event) (err error) {
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
		ev.Result, err = word[lb.Answer](p, lb.Answers[:])
	case fieldToken:
		err = p.count(&ev.Token)
	case fieldUntil:
		err = p.instant(&ev.Until)
	case fieldCall:
		err = p.instant(&ev.Call)
	case fieldRequests:
		ev.Requests, err = p.many()
	case fieldSent:
		err = p.string(&ev.Sent)
	case fieldWorker:
		err = p.string(&ev.Worker)
	case fieldName:
		err = p.string(&ev.Name)
	case fieldPhase:
		err = p.string(&ev.Phase)
	case fieldTarget:
		err = p.string(&ev.Target)
	case fieldFault:
		err = p.string(&ev.Fault)
	case fieldCount:
		ev.Count, err = p.many()
	case fieldProven:
		ev.Proven, err = p.boolean()
	case fieldError:
		ev.Error, err = p.boolean()
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

// word reads one of some words, as its number. What another one is wrong for is said
// when the kind is known.
func word[T ~uint8](p *parser, words []string) (T, error) {
	s, err := p.text()
	if err != nil {
		return 0, err
	}
	i := slices.Index(words, string(s))
	if i < 0 {
		p.odd, i = string(s), noWord
	}
	return T(i), nil
}

// noWord is the number of a word that is none.
const noWord = 255

func (p *parser) instant(to *lb.Instant) error {
	n, err := p.signed()
	*to = lb.Instant(n)
	return err
}

// many reads a number from 0.
func (p *parser) many() (int, error) {
	n, err := p.signed()
	if err == nil && n < 0 {
		err = fmt.Errorf("is %d", n)
	}
	return int(n), err
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

func (p *parser) copyEffects() (*CopyEffects, error) {
	if len(p.copies) == cap(p.copies) { // what was handed out stays where it is
		p.copies = make([]CopyEffects, 0, max(16, min(2*cap(p.copies), 4096)))
	}
	p.copies = append(p.copies, CopyEffects{})
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
			c.Fenced = &CopyEffect{}
			return p.copyEffect(c.Fenced)
		}
		return p.skip(0)
	})
	if err == nil && !(there["plain"] && there["checked"]) {
		err = errors.New("need plain and checked")
	}
	return c, err
}

func (p *parser) copyEffect(c *CopyEffect) error {
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
			c.Result, err = word[Decision](p, decisionNames[:])
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

// parseHeader wants the first line of a file. It returns the clock that it names.
func parseHeader(line []byte) (own hostClock, err error) {
	var kind string
	version := int64(-1)
	p := &parser{lexer: lexer{line: line}}
	var odd error
	err = p.object(func(key []byte) (err error) {
		switch string(key) {
		case "clock":
			if odd = p.clockField(&own); odd != nil {
				return odd
			}
			return nil
		case "lockbench":
			return p.string(&kind)
		case "version":
			version, err = p.signed()
			return err
		}
		return p.skip(0)
	})
	switch {
	case odd != nil:
		return own, odd
	case err != nil || kind != "history":
		return own, errors.New("not a lockbench history: its first line must be " + strings.TrimSpace(header))
	case version == Version: // its clocks do not drift
		own = hostClock{Line: clock.Line{Offset: own.Offset, Error: own.Error, Likely: own.Error}}
	case version != VersionOfClocks:
		return own, fmt.Errorf("history version %d; this lockbench reads versions %d and %d", version, Version, VersionOfClocks)
	}
	return ClockErrors{}.take(own), nil
}
