package checker

import (
	"cmp"
	"fmt"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// A lock may fail now and then while no fault is in force, but not more often: of so many acquires,
// where it declares no other share, and not fewer in all.
const (
	mayFail    = 0.01
	mustFail   = 3
	afterwards = 2 // leases after a fault in which what it did may still be felt
)

// judgeAnswers asks whether acquires fail while no fault is in force: with an error, which is neither
// a refusal nor the end of their caller's patience; and whether one is never answered. That hurts
// nobody, and no other layer tells. What else was wrong then, such as a clock since the beginning,
// it does not know, and does not say.
func judgeAnswers(r *run) Layer {
	calm := func(n int32) bool { // from its call to its return
		a := &r.Acqs[n]
		for i := range r.Faults {
			f := &r.Faults[i]
			if end := f.Healed; f.Struck && a.Return+2*r.Error >= f.Strike && (end == history.Forever || a.Call <= end+afterwards*lb.Instant(r.plan.TTL)+2*r.Error) {
				return false
			}
		}
		return a.Return <= r.End
	}
	asked := 0
	for i := range r.Acqs {
		if a := &r.Acqs[i]; a.Asked && a.Return != history.Forever && calm(int32(i)) {
			asked++
		}
	}
	failed := r.failed(calm)
	switch {
	case asked == 0:
		return Layer{Verdict: Vacuous, Summary: "no acquire returned while no fault was in force"}
	case r.stalled() > r.plan.TTL/2:
		return Layer{Verdict: Vacuous, Summary: "not judged where the machine stood still"}
	}
	var wrong []string
	if told := r.forgotten(); told != "" {
		wrong = append(wrong, told)
	}
	may := cmp.Or(r.plan.Traits.Fails, mayFail)
	if len(failed) >= mustFail && float64(len(failed)) > may*float64(asked) {
		wrong = append(wrong, fmt.Sprintf("%d of %s ended in an error while no fault was in force%s", len(failed), english.Count(asked, "acquire"), suchAs(failed)))
	}
	if len(wrong) > 0 {
		return Layer{Verdict: Invalid, Count: len(wrong), Summary: strings.Join(wrong, "; ")}
	}
	excuse := ""
	if float64(len(failed)) > mayFail*float64(asked) && may > mayFail {
		excuse = fmt.Sprintf(" (it declares that up to %.3g%% may)", 100*may)
	}
	return Layer{Verdict: Valid, Summary: fmt.Sprintf("%s while no fault was in force, of which %d ended in an error%s", english.Count(asked, "acquire"), len(failed), excuse)}
}

// failed are such acquires that failed.
func (r *run) failed(such func(acq int32) bool) (all []*history.CallError) {
	for i := range r.Errors {
		if e := &r.Errors[i]; !e.Release && e.Acq != none && such(e.Acq) {
			all = append(all, e)
		}
	}
	return all
}

// suchAs tells of the first of them.
func suchAs(failed []*history.CallError) string {
	if len(failed) == 0 || failed[0].Note == "" {
		return ""
	}
	const most = 200
	note := strings.Join(strings.Fields(failed[0].Note), " ")
	if r := []rune(note); len(r) > most {
		note = string(r[:most]) + "…"
	}
	return ", such as: " + note
}

// inVain says how many acquires failed, where that may be why so little was seen; else "".
func (r *run) inVain() string {
	failed := r.failed(func(int32) bool { return true })
	if len(failed) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s ended in an error%s", english.Count(len(failed), "acquire"), suchAs(failed))
}
