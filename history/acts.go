package history

import (
	"cmp"

	lb "github.com/lockbench/lockbench"
)

// fault opens or ends a window. A heal belongs to the last strike of that name that
// has not been healed.
func (ix *Index) fault(at lb.Instant, e faultEvent) {
	if e.phase == PhaseStrike {
		ix.Faults = append(ix.Faults, Fault{Name: e.name, Struck: true, Strike: at, Healed: Forever})
		return
	}
	for i := len(ix.Faults) - 1; i >= 0; i-- {
		f := &ix.Faults[i]
		switch {
		case f.Name != e.name || f.Healed < Forever:
		case e.phase == PhaseHeal:
			f.Heal = at
			return
		default:
			f.Healed, f.Proven, f.Note = at, e.proven, e.note
			return
		}
	}
	if e.phase == PhaseHealed { // it says that nothing struck
		ix.Faults = append(ix.Faults, Fault{Name: e.name, Strike: at, Healed: at, Proven: e.proven, Note: e.note})
	}
}

// act opens or closes what the bench did. An end belongs to the last begin of that
// name, target and fault that has not ended.
func (ix *Index) act(at lb.Instant, e actEvent) {
	if e.begins {
		ix.Acts = append(ix.Acts, Act{Name: e.name, Target: e.target, Fault: e.fault, Begin: at, End: Forever, Note: e.note})
		return
	}
	for i := len(ix.Acts) - 1; i >= 0; i-- {
		if a := &ix.Acts[i]; a.Name == e.name && a.Target == e.target && a.Fault == e.fault && a.End == Forever {
			a.End, a.Note = at, cmp.Or(e.note, a.Note)
			return
		}
	}
}
