package checker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// The copies of the protected store, by the care of their writers.
const (
	CopyPlain   = "plain"
	CopyChecked = "checked"
	CopyFenced  = "fenced"
)

var copyNames = [...]string{CopyPlain, CopyChecked, CopyFenced}

// judgeStore follows the values of each copy in the order in which the store
// served its accesses, which is the ground truth.
func judgeStore(r *run) Layer {
	s := store{run: r, regs: map[regKey]*register{}, reads: map[int32]*history.Access{},
		copies: map[string]Copy{}}
	for i := range r.Accesses {
		if err := s.take(&r.Accesses[i]); err != nil {
			return undecided(LayerStore, err.Error())
		}
	}
	r.copies = s.settle()
	if r.plan.Traits.Semaphore() {
		s.crowds()
	}
	if len(r.copies) == 0 {
		return Layer{Verdict: Vacuous, Summary: "no access to the protected store is recorded"}
	}
	verdict, summary := Valid, ""
	for _, name := range copyNames {
		if c, ok := r.copies[name]; ok {
			if c.Hurt() {
				verdict = Invalid
			}
			if summary != "" {
				summary += "; "
			}
			summary += fmt.Sprintf("%s: %s, %d lost, %d stale, %d refused, %d skipped",
				name, english.Count(c.Writes, "write"), c.Lost, c.Stale, c.Refused, c.Skipped)
			if r.plan.Traits.Semaphore() {
				summary += fmt.Sprintf(", %d crowded", c.Crowded)
			}
		}
	}
	return s.found.layer(verdict, "%s", summary)
}

type regKey struct {
	lock int32
	copy int
}

// register is one copy of one lock's register.
type register struct {
	initial, value, added int64 // added by all writes that landed
	landed                []*history.Access
	work                  []work // of a semaphore
}

type store struct {
	run    *run
	regs   map[regKey]*register
	reads  map[int32]*history.Access // the last read of each acquisition
	copies map[string]Copy
	found  findings
}

// effectOn is what the access did to a copy, nil where the lock has no such copy.
func effectOn(e *history.Access, copy int) *history.Effect {
	switch {
	case copy == 0:
		return &e.Plain
	case copy == 1:
		return &e.Checked
	case e.HasFenced:
		return &e.Fenced
	}
	return nil
}

// take follows one access through all copies.
func (s *store) take(e *history.Access) error {
	if !e.Write && !e.Confirms() {
		s.reads[e.Acq] = e
	}
	var stale []string
	var overtakers []*history.Access
	worst := 0
	for copy, name := range copyNames {
		eff := effectOn(e, copy)
		if eff == nil {
			continue
		}
		reg, err := s.register(e, copy, eff)
		if err != nil {
			return err
		}
		if s.tally(name, e, eff) {
			if stale = append(stale, name); len(stale) == 1 {
				worst, overtakers = copy, s.overtakers(reg, e)
			}
		}
		if e.Write && eff.Result == history.Landed {
			reg.value = eff.New
			reg.added += eff.New - eff.Base
			reg.landed = append(reg.landed, e)
			if s.run.plan.Traits.Semaphore() {
				reg.work = append(reg.work, work{cmp.Or(s.reads[e.Acq], e), e})
			}
		}
	}
	if len(stale) > 0 {
		s.found.add(func() Finding { return s.finding(e, worst, stale, overtakers) })
	}
	return nil
}

// register is the copy that the access goes to. What the access says of it must fit
// to what was there before.
func (s *store) register(e *history.Access, copy int, eff *history.Effect) (*register, error) {
	key := regKey{s.run.Acqs[e.Acq].Lock, copy}
	reg, ok := s.regs[key]
	if !ok {
		reg = &register{initial: eff.Value, value: eff.Value}
		s.regs[key] = reg
	}
	if eff.Value != reg.value {
		return nil, fmt.Errorf("the store's log does not fit together: at access %d the %s copy is %d, but %d was there before",
			e.Seq, copyNames[copy], eff.Value, reg.value)
	}
	return reg, nil
}

// tally counts a write, or a read that its client relies on, and reports whether it was
// stale.
func (s *store) tally(name string, e *history.Access, eff *history.Effect) (stale bool) {
	if !e.Write && !e.Confirms() {
		return false
	}
	c := s.copies[name]
	switch eff.Result {
	case history.Landed:
		if e.Write {
			c.Writes++
		}
		if stale = eff.Base != eff.Value; stale {
			c.Stale++
		}
	case history.Refused:
		c.Refused++
	case history.Skipped:
		c.Skipped++
	}
	s.copies[name] = c
	return stale
}

// overtakers are the writes that landed between e and the read it is based on.
func (s *store) overtakers(reg *register, e *history.Access) []*history.Access {
	read := s.reads[e.Acq]
	i := len(reg.landed)
	if read == nil {
		return reg.landed[max(0, i-1):]
	}
	for i > 0 && reg.landed[i-1].Seq > read.Seq {
		i--
	}
	return slices.Clone(reg.landed[i:])
}

// settle compares the final values with the writes that landed.
func (s *store) settle() map[string]Copy {
	for key, reg := range s.regs {
		name := copyNames[key.copy]
		c := s.copies[name]
		lost := int(reg.added - (reg.value - reg.initial))
		c.Lost += max(lost, -lost)
		s.copies[name] = c
	}
	return s.copies
}
