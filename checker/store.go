package checker

import (
	"fmt"

	"github.com/lockbench/lockbench"
)

// The copies of the protected store, by the care of their writers.
const (
	CopyPlain   = "plain"
	CopyChecked = "checked"
	CopyFenced  = "fenced"
)

var copyNames = []string{CopyPlain, CopyChecked, CopyFenced}

// judgeStore follows the values of each copy in the order in which the store
// served its accesses, which is the ground truth.
func judgeStore(r *run) lockbench.Layer {
	s := store{run: r, regs: map[regKey]*register{}, reads: map[acqKey]*lockbench.Event{},
		copies: map[string]lockbench.Copy{}}
	for _, e := range r.access {
		if e.Copies == nil {
			return undecided(LayerStore, fmt.Sprintf("access %d of the store's log says nothing of the copies", e.Seq))
		}
		if err := s.take(e); err != nil {
			return undecided(LayerStore, err.Error())
		}
	}
	r.copies = s.settle()
	if len(r.copies) == 0 {
		return lockbench.Layer{Verdict: lockbench.Vacuous, Summary: "the protected store was not used"}
	}
	verdict, summary := lockbench.Valid, ""
	for _, name := range copyNames {
		if c, ok := r.copies[name]; ok {
			if c.Hurt() {
				verdict = lockbench.Invalid
			}
			if summary != "" {
				summary += "; "
			}
			summary += fmt.Sprintf("%s: %s, %d lost, %d stale, %d refused, %d skipped",
				name, count(c.Writes, "write"), c.Lost, c.Stale, c.Refused, c.Skipped)
		}
	}
	if verdict == lockbench.Invalid && s.found.count == 0 {
		s.found.add(func() lockbench.Finding {
			return lockbench.Finding{At: r.last, From: r.start, To: r.last,
				Sentence: "updates are missing from the final value though no write was stale"}
		})
	}
	return s.found.layer(verdict, "%s", summary)
}

type regKey struct{ lock, copy string }

// register is one copy of one lock's register.
type register struct {
	initial, value int64
	landed         []*lockbench.Event
}

type store struct {
	run    *run
	regs   map[regKey]*register
	reads  map[acqKey]*lockbench.Event // the last read of each acquisition
	copies map[string]lockbench.Copy
	found  findings
}

func effectOn(e *lockbench.Event, name string) *lockbench.CopyEffect {
	switch name {
	case CopyPlain:
		return &e.Copies.Plain
	case CopyChecked:
		return &e.Copies.Checked
	}
	return e.Copies.Fenced
}

// take follows one access through all copies.
func (s *store) take(e *lockbench.Event) error {
	if e.Kind == lockbench.KindRead {
		s.reads[acqKey{e.Lock, e.ID}] = e
	}
	var stale []string
	var overtakers []*lockbench.Event
	for _, name := range copyNames {
		eff := effectOn(e, name)
		if eff == nil {
			continue
		}
		reg, ok := s.regs[regKey{e.Lock, name}]
		if !ok {
			reg = &register{initial: eff.Value, value: eff.Value}
			s.regs[regKey{e.Lock, name}] = reg
		}
		if eff.Value != reg.value {
			return fmt.Errorf("the store's log does not fit together: at access %d the %s copy is %d, but %d was there before",
				e.Seq, name, eff.Value, reg.value)
		}
		if e.Kind != lockbench.KindWrite {
			continue
		}
		if s.tally(name, eff) {
			if stale = append(stale, name); len(stale) == 1 {
				overtakers = s.overtakers(reg, e, eff.Base)
			}
		}
		if eff.Result == lockbench.Landed {
			reg.value = eff.New
			reg.landed = append(reg.landed, e)
		}
	}
	if len(stale) > 0 {
		s.found.add(func() lockbench.Finding { return s.finding(e, stale, overtakers) })
	}
	return nil
}

// tally counts a write and reports whether it was stale.
func (s *store) tally(name string, eff *lockbench.CopyEffect) (stale bool) {
	c := s.copies[name]
	switch eff.Result {
	case lockbench.Landed:
		c.Writes++
		if stale = eff.Base != eff.Value; stale {
			c.Stale++
		}
	case lockbench.Refused:
		c.Refused++
	case lockbench.Skipped:
		c.Skipped++
	}
	s.copies[name] = c
	return stale
}

// overtakers are the writes that landed between e and the read it is based on.
func (s *store) overtakers(reg *register, e *lockbench.Event, base int64) []*lockbench.Event {
	read := s.reads[acqKey{e.Lock, e.ID}]
	i := len(reg.landed)
	for i > 0 && (read != nil && reg.landed[i-1].Seq > read.Seq || read == nil && i == len(reg.landed)) {
		i--
	}
	return reg.landed[i:]
}

// settle compares the final values with the writes that landed.
func (s *store) settle() map[string]lockbench.Copy {
	for key, reg := range s.regs {
		c := s.copies[key.copy]
		c.Lost += len(reg.landed) - int(reg.value-reg.initial)
		s.copies[key.copy] = c
	}
	return s.copies
}
