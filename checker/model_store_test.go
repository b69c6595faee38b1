package checker_test

import (
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// modelStore takes the accesses in the order of seq.
func modelStore(h history.Events, plan history.Plan) checker.Verdict {
	w := see(h, plan)
	verdict := checker.Valid
	for _, lock := range w.locks {
		for _, copyOf := range []func(*history.CopyEffects) *history.CopyEffect{
			func(c *history.CopyEffects) *history.CopyEffect { return &c.Plain },
			func(c *history.CopyEffects) *history.CopyEffect { return &c.Checked },
			func(c *history.CopyEffects) *history.CopyEffect { return c.Fenced },
		} {
			switch oneCopy(w, lock, copyOf) {
			case checker.Undecided:
				return checker.Undecided // nothing is decided
			case checker.Invalid:
				verdict = checker.Invalid
			}
		}
	}
	return verdict
}

// crowded: "who is granted is at work on a copy from the last read before its write to that write, if it landed ... hurt, too, if more were
// at work at once than there are permits".
func crowded(w *world, lock string, copyOf func(*history.CopyEffects) *history.CopyEffect) bool {
	type work struct {
		id       string
		from, to uint64
	}
	var all []work
	read := map[string]uint64{}
	for _, ev := range w.accesses {
		c := copyOf(ev.Copies)
		switch {
		case ev.Lock != lock:
		case ev.Kind == history.KindRead && ev.Copies.Plain.Result == history.NoDecision:
			read[ev.ID] = ev.Seq
		case ev.Kind == history.KindWrite && c != nil && c.Result == history.Landed:
			from, ok := read[ev.ID]
			if !ok {
				from = ev.Seq
			}
			all = append(all, work{ev.ID, from, ev.Seq})
		}
	}
	for _, a := range all {
		ids := map[string]bool{}
		for _, b := range all {
			if b.from <= a.from && a.from < b.to || a == b {
				ids[b.id] = true
			}
		}
		if w.plan.Traits.Permits > 1 && len(ids) > w.plan.Traits.Permits {
			return true
		}
	}
	return false
}

func oneCopy(w *world, lock string, copyOf func(*history.CopyEffects) *history.CopyEffect) checker.Verdict {
	var value, first, added, stale int64
	begun := false
	for _, ev := range w.accesses {
		c := copyOf(ev.Copies)
		if ev.Lock != lock || c == nil {
			continue
		}
		if !begun {
			begun, value, first = true, c.Value, c.Value
		}
		if c.Value != value {
			return checker.Undecided
		}
		if c.Result != history.Landed {
			continue
		}
		if c.Base != value {
			stale++
		}
		if ev.Kind == history.KindWrite {
			added += c.New - c.Base
			value = c.New
		}
	}
	if added != value-first || stale > 0 || crowded(w, lock, copyOf) {
		return checker.Invalid
	}
	return checker.Valid
}
