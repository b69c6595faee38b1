package history

import (
	"errors"
	"fmt"
	"math"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/clock"
)

// hostClock is the clock that a recorder stamps with, where it is another one than that of
// the rest: what to add to it, and how wrong that may be.
type hostClock struct {
	clock.Line
	// err is the most that any of its times may be wrong, of those that were read; but see until.
	err lb.Instant
	// full and most are the clock and that by its header, however little its errors are taken for.
	full clock.Line
	most lb.Instant
	// first is the earliest of them, and until the latest end of a lease behind all measurements, by
	// the recorder's clock.
	first, until lb.Instant
	// unknown: the recorder has a clock of its own, and nobody compared it with others.
	unknown bool
}

// errUnknown is a file whose recorder's clock was not compared before the run was cut short.
var errUnknown = errors.New("its recorder has a clock of its own, which was not compared with the others: when its events were is not known")

// ClockErrors is how a reader takes the errors of clocks. The zero value is as their headers say.
type ClockErrors struct {
	// Likely: as little as is likely, and not as much as may be. What is seen then may be an error's.
	Likely bool
	// Least is the least that each clock is taken to err that a header tells of.
	Least time.Duration
}

// take is a clock with its errors taken so.
func (e ClockErrors) take(c hostClock) hostClock {
	full := c.Line
	switch {
	case c == (hostClock{}):
		return c
	case e.Likely:
		c.Error, c.Strays = c.Line.Likely, 0
	default:
		c.Error = max(c.Error, e.Least)
	}
	c.err, c.full = lb.Instant(c.Error), full
	return c
}

// shift brings the times of an event to the common clock.
func (c *hostClock) shift(ev *Event) error {
	if *c == (hostClock{}) {
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
		was := *t.at
		if t.at == &ev.Until && was > c.To {
			c.until = max(c.until, was)
		} else {
			c.err, c.most = max(c.err, lb.Instant(c.Err(was))), max(c.most, lb.Instant(c.full.Err(was)))
		}
		if *t.at += lb.Instant(c.At(was)); *t.at-c.err < 1 || *t.at+c.err > maxInstant {
			return fmt.Errorf("with its clock's offset and error the time %d is out of range", was)
		}
		if c.first == 0 || *t.at < c.first {
			c.first = *t.at
		}
	}
	return nil
}

// behind is how wrong the ends of leases may be that come behind all measurements. The longer a lease, the
// less is known of its end; but one that can't have come by last, when there is nothing more to compare it
// with, tells no more by being known better.
func (c *hostClock) behind(last lb.Instant) lb.Instant {
	measured := c.To + lb.Instant(c.Line.At(c.To)-c.Error) // the earliest that this was
	if c.until <= c.To || measured > last {
		return 0
	}
	latest := c.To + lb.Instant(math.Ceil(float64(last-measured)/(1-float64(c.Strays)/1e9)))
	return lb.Instant(c.Err(min(c.until, latest)))
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
func (c *hostClock) reckon(ev *Event) error {
	until := lb.Instant(c.Err(ev.Until))
	if err := c.shift(ev); err != nil {
		return err
	}
	ev.At = c.widen(ev.At, ev.Kind == KindReturn || ev.Kind == KindSilent || ev.Phase == PhaseHealed || ev.Phase == PhaseEnd)
	ev.Call = max(0, ev.Call-c.err)
	ev.Until = max(0, ev.Until-max(c.err, until))
	return nil
}

// clockField reads the clock of a header.
func (p *parser) clockField(c *hostClock) error {
	var name string
	fields := map[string]*int64{"offset_ns": (*int64)(&c.Offset), "error_ns": (*int64)(&c.Error),
		"drift_ppb": &c.PPB, "from_ns": (*int64)(&c.From), "to_ns": (*int64)(&c.To), "strays_ppb": &c.Strays, "likely_ns": (*int64)(&c.Likely)}
	given := map[string]bool{}
	err := p.object(func(key []byte) (err error) {
		if string(key) == "name" {
			return p.string(&name)
		}
		field := fields[string(key)]
		if field == nil {
			return p.skip(0)
		}
		given[string(key)] = true
		*field, err = p.signed()
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("clock: %w", err)
	case name == "":
		return errors.New("clock: a clock needs name")
	case c.Error < 0 || c.Error > time.Duration(maxInstant/8) || max(c.Offset, -c.Offset) > time.Duration(maxInstant):
		return errors.New("clock: its offset or its error is out of range")
	case c.From < 0 || c.To < c.From || c.To > maxInstant:
		return errors.New("clock: it was measured from from_ns to to_ns, which are times, the one not after the other")
	case max(c.PPB, -c.PPB) > mostPPB || c.Strays < 0 || c.Strays > mostPPB:
		return errors.New("clock: its drift, or how far it strays, is out of range")
	}
	if c.unknown = !given["to_ns"]; !given["likely_ns"] {
		c.Likely = c.Error
	}
	if c.Likely < 0 || c.Likely > c.Error {
		return errors.New("clock: what is likely of its error is not from 0 to that")
	}
	return nil
}

// mostPPB: a clock that is wrong by a tenth of the time is no clock.
const mostPPB = 100_000_000
