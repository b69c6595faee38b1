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
	if added != value-first || stale > 0 {
		return checker.Invalid
	}
	return checker.Valid
}
