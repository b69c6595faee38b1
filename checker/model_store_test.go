package checker_test

import (
	lb "github.com/lockbench/lockbench"
)

// modelStore takes the accesses in the order of seq.
func modelStore(h lb.History, plan lb.Plan) lb.Verdict {
	w := see(h, plan)
	verdict := lb.Valid
	for _, lock := range w.locks {
		for _, copyOf := range []func(*lb.CopyEffects) *lb.CopyEffect{
			func(c *lb.CopyEffects) *lb.CopyEffect { return &c.Plain },
			func(c *lb.CopyEffects) *lb.CopyEffect { return &c.Checked },
			func(c *lb.CopyEffects) *lb.CopyEffect { return c.Fenced },
		} {
			switch oneCopy(w, lock, copyOf) {
			case lb.Undecided:
				return lb.Undecided // nothing is decided
			case lb.Invalid:
				verdict = lb.Invalid
			}
		}
	}
	return verdict
}

func oneCopy(w *world, lock string, copyOf func(*lb.CopyEffects) *lb.CopyEffect) lb.Verdict {
	var value, first, landed, stale int64
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
			return lb.Undecided
		}
		if ev.Kind != lb.KindWrite || c.Result != lb.Landed {
			continue
		}
		if c.New != c.Base+1 {
			return lb.Undecided
		}
		if c.Base != value {
			stale++
		}
		landed++
		value = c.New
	}
	if landed != value-first || stale > 0 {
		return lb.Invalid
	}
	return lb.Valid
}
