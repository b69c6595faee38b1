// Package shorthand reads the short notation in which docs/history.md writes its
// examples, for the tests of those who read histories.
package shorthand

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// Sketch is a small history with what is to be expected of it.
type Sketch struct {
	Events history.Events
	Plan   history.Plan
	Wants  []string // what stands behind each ⇒
}

// Parse reads one: an event or a word about the plan (reentrant, fenced, fair, told,
// push, leased, planned, permits N, evidence LAYER, ms) on each line, or between semicolons. Times are nanoseconds, or milliseconds
// after ms.
func Parse(text string) (Sketch, error) {
	s, unit := Sketch{}, lb.Instant(1)
	for line := range strings.SplitSeq(strings.ReplaceAll(text, ";", "\n"), "\n") {
		line = strings.TrimSpace(line)
		switch line {
		case "":
			continue
		case "reentrant":
			s.Plan.Traits.Reentrant = true
			continue
		case "fenced":
			s.Plan.Traits.Fenced = true
			continue
		case "fair":
			s.Plan.Traits.Fair = true
			continue
		case "told":
			s.Plan.Traits.LostNotice = true
			continue
		case "push":
			s.Plan.Traits.Push = true
			continue
		case "leased":
			s.Plan.Traits.Leased = true
			continue
		case "guarded":
			s.Plan.Guarded = true
			continue
		case "gives up":
			s.Plan.GivesUp = true
			continue
		case "planned":
			s.Plan.Algorithm, s.Plan.TTL = "sample", time.Second
			continue
		case "ms":
			unit = 1e6
			continue
		}
		if want, ok := strings.CutPrefix(line, "⇒"); ok {
			s.Wants = append(s.Wants, strings.TrimSpace(want))
			continue
		}
		if n, ok := strings.CutPrefix(line, "permits "); ok {
			var err error
			if s.Plan.Traits.Permits, err = strconv.Atoi(n); err != nil {
				return s, fmt.Errorf("%q: %w", line, err)
			}
			continue
		}
		if layer, ok := strings.CutPrefix(line, "evidence "); ok {
			s.Plan.Evidence = append(s.Plan.Evidence, layer)
			continue
		}
		ev, err := event(strings.Fields(line), unit)
		if err != nil {
			return s, fmt.Errorf("%q: %w", line, err)
		}
		s.Events = append(s.Events, ev)
	}
	return s, nil
}

// Must is [Parse] of a text that is part of a test.
func Must(text string) Sketch {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

// kinds are the first words of events, with the names of those that follow.
var kinds = map[string]struct {
	ev    history.Event
	words string
}{
	"c":      {history.Event{Kind: history.KindCall, Op: history.OpAcquire}, "client id"},
	"r":      {history.Event{Kind: history.KindReturn, Op: history.OpAcquire}, "client id result"},
	"C":      {history.Event{Kind: history.KindCall, Op: history.OpRelease}, "client id"},
	"R":      {history.Event{Kind: history.KindReturn, Op: history.OpRelease}, "client id result"},
	"renew":  {history.Event{Kind: history.KindRenew}, "client id"},
	"lost":   {history.Event{Kind: history.KindLost}, "client id"},
	"read":   {history.Event{Kind: history.KindRead}, "client id"},
	"write":  {history.Event{Kind: history.KindWrite}, "client id"},
	"step":   {history.Event{Kind: history.KindStep}, "client id name"},
	"wake":   {history.Event{Kind: history.KindWake}, "client name"},
	"silent": {history.Event{Kind: history.KindSilent}, "worker"},
	"dead":   {history.Event{Kind: history.KindDead}, "worker"},
	"fault":  {history.Event{Kind: history.KindFault}, "name phase"},
	"act":    {history.Event{Kind: history.KindAct}, "name target phase"},
	"count":  {history.Event{Kind: history.KindCount}, "name target"},
	"failed": {history.Event{Kind: history.KindFailed}, "client"},
	"end":    {history.Event{Kind: history.KindEnd}, ""},
}

func event(words []string, unit lb.Instant) (ev history.Event, err error) {
	if len(words) < 2 {
		return ev, fmt.Errorf("an event is a time and a kind")
	}
	t, err := strconv.ParseInt(words[0], 10, 64)
	kind, ok := kinds[words[1]]
	if err != nil || !ok {
		return ev, fmt.Errorf("no such time or kind")
	}
	ev = kind.ev
	ev.At = lb.Instant(t) * unit
	words = words[2:]
	for name := range strings.FieldsSeq(kind.words) {
		if len(words) == 0 {
			return ev, fmt.Errorf("%s is missing", name)
		}
		if err := set(&ev, name, words[0], unit); err != nil {
			return ev, err
		}
		words = words[1:]
	}
	if ev.ID != "" && ev.Kind != history.KindStep {
		ev.Lock = "l"
	}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		if err := set(&ev, name, value, unit); err != nil {
			return ev, err
		}
	}
	return ev, nil
}

func set(ev *history.Event, name, value string, unit lb.Instant) (err error) {
	number := func() (n int64) {
		n, err = strconv.ParseInt(value, 10, 64)
		return n
	}
	switch name {
	case "client":
		ev.Client = value
	case "id":
		ev.ID = value
	case "lock":
		ev.Lock = value
	case "worker":
		ev.Worker = value
	case "result":
		i := slices.Index(lb.Answers[:], value)
		if i < 0 {
			return fmt.Errorf("no such result: %s", value)
		}
		ev.Result = lb.Answer(i)
	case "name":
		ev.Name = value
	case "phase":
		ev.Phase = value
	case "target":
		ev.Target = value
	case "fault":
		ev.Fault = value
	case "shared":
		ev.Shared = true
	case "proven":
		ev.Proven = true
	case "until":
		ev.Until = lb.Instant(number()) * unit
	case "call":
		ev.Call = lb.Instant(number()) * unit
	case "token":
		ev.Token = uint64(number())
	case "count":
		ev.Count = int(number())
	case "seq":
		ev.Seq = uint64(number())
	case "plain", "checked", "fenced":
		return setCopy(ev, name, value)
	default:
		err = fmt.Errorf("no such word: %s", name)
	}
	return err
}

// setCopy reads VALUE, VALUE/BASE/NEW or VALUE/BASE/refused; of a read that relies on its
// base, VALUE/BASE/landed.
func setCopy(ev *history.Event, name, value string) (err error) {
	var c history.CopyEffect
	parts := strings.Split(value, "/")
	for i, to := range []*int64{&c.Value, &c.Base, &c.New}[:len(parts)] {
		if i == 2 {
			switch c.Result = history.Landed; parts[2] {
			case history.Landed.String():
				continue
			case history.Refused.String():
				c.Result = history.Refused
				continue
			case history.Skipped.String():
				c.Result = history.Skipped
				continue
			}
		}
		if *to, err = strconv.ParseInt(parts[i], 10, 64); err != nil {
			return err
		}
	}
	if ev.Copies == nil {
		ev.Copies = &history.CopyEffects{}
	}
	switch name {
	case "plain":
		ev.Copies.Plain, ev.Copies.Checked = c, c
	case "checked":
		ev.Copies.Checked = c
	case "fenced":
		ev.Copies.Fenced = &c
	}
	return nil
}
