package jepsen

import (
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// An export of lockbench says what other histories of Jepsen leave open: acquisitions have
// ids, leases have ends, and a failed release says what it failed for.

// exactly adds to an event what the operation says of it.
func exactly(ev *history.Event, op map[string]any) {
	ev.Until = instant(op["until"])
	if token, ok := op["token"].(int64); ok {
		ev.Token = uint64(token)
	}
	ev.Shared, _ = op["shared"].(bool)
	switch {
	case op["error"] == "not-held":
		ev.Result = lb.AnswerLost
	case op["error"] == "released":
		ev.Result = lb.AnswerReleased
	}
}

func instant(v any) lb.Instant {
	n, _ := v.(int64)
	return lb.Instant(n)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// bench takes what the nemesis of an export tells, beside its faults.
func (c *converter) bench(f string, op map[string]any) error {
	ev := history.Event{At: c.now, Client: text(op["client"]), ID: text(op["id"]), Worker: text(op["worker"])}
	switch f {
	case fHeader:
		if op["value"] != int64(exportVersion) {
			return fmt.Errorf("an export of lockbench of version %v; this one reads %d", op["value"], exportVersion)
		}
		c.exact = true
		return nil
	case fRenew:
		ev.Kind, ev.Lock, ev.Until = history.KindRenew, lockOf(op["value"]), instant(op["until"])
	case fLost:
		ev.Kind, ev.Lock = history.KindLost, lockOf(op["value"])
	case fSilent:
		ev.Kind, ev.Call = history.KindSilent, instant(op["since"])
	case fDead:
		ev.Kind = history.KindDead
	case fEnd:
		ev.Kind = history.KindEnd
	default:
		return nil
	}
	c.history = append(c.history, ev)
	return nil
}
