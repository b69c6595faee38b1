package history

import (
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
)

// hostClock is the clock that a recorder stamps with, where it is another one than that of
// the rest: what to add to it, and how wrong that may be.
type hostClock struct{ offset, err lb.Instant }

// shift brings the times of an event to the common clock.
func (c hostClock) shift(ev *Event) error {
	if c == (hostClock{}) {
		return nil
	}
	has := takes(ev.Kind)
	for _, t := range [...]struct {
		at *lb.Instant
		is bool
	}{{&ev.At, true}, {&ev.Until, has&fieldUntil != 0 && ev.Until != 0}, {&ev.Call, has&fieldCall != 0 && ev.Call != 0}} {
		if !t.is {
			continue
		}
		if *t.at += c.offset; *t.at-c.err < 1 || *t.at+c.err > maxInstant {
			return fmt.Errorf("with its clock's offset and error the time %d is out of range", *t.at-c.offset)
		}
	}
	return nil
}

// widen says how the time of an event may err without inventing a violation: returns,
// heals and the ends of silences and acts come later, the rest earlier.
func (c hostClock) widen(at lb.Instant, later bool) lb.Instant {
	if later {
		return at + c.err
	}
	return at - c.err
}

// reckon does both to an event that stands for itself.
func (c hostClock) reckon(ev *Event) error {
	if err := c.shift(ev); err != nil {
		return err
	}
	ev.At = c.widen(ev.At, ev.Kind == KindReturn || ev.Kind == KindSilent || ev.Phase == PhaseHealed || ev.Phase == PhaseEnd)
	ev.Call = max(0, ev.Call-c.err)
	ev.Until = max(0, ev.Until-c.err)
	return nil
}

// clockField reads the clock of a header.
func (p *parser) clockField(c *hostClock) error {
	var name string
	err := p.object(func(key []byte) (err error) {
		var n int64
		switch string(key) {
		case "name":
			return p.string(&name)
		case "offset_ns":
			n, err = p.signed()
			c.offset = lb.Instant(n)
		case "error_ns":
			n, err = p.signed()
			c.err = lb.Instant(n)
		default:
			return p.skip(0)
		}
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("clock: %w", err)
	case name == "":
		return errors.New("clock: a clock needs name")
	case c.err < 0 || c.err > maxInstant/8 || max(c.offset, -c.offset) > maxInstant:
		return errors.New("clock: its offset or its error is out of range")
	}
	return nil
}
