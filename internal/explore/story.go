package explore

import (
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// Tell is the order as a story: a line for each move, with what the client came to know by it,
// and one for what came after them.
func (v Violation) Tell() []string {
	var story []string
	for i := 0; i < len(v.Moves); i++ {
		m, events := v.Moves[i], v.between(i)
		if next := i + 1; m.Do == Calls && next < len(v.Moves) && m.leadsTo(v.Moves[next]) && v.Moves[next].Do != Calls {
			events = slices.Concat(events, v.between(next)) // a call is told with what it leads to
			m, i = v.Moves[next], next
		}
		story = append(story, told(m.Sentence(), events))
	}
	if v.Later {
		story = append(story, told("then everybody goes on as far as possible, and time passes", v.between(len(v.Moves))))
	}
	return story
}

// between are the events that the ith move led to.
func (v Violation) between(i int) history.Events {
	mark := func(i int) int {
		if i < len(v.Marks) {
			return min(v.Marks[i], len(v.Events))
		}
		return len(v.Events)
	}
	if len(v.Marks) <= len(v.Moves) {
		return nil // nobody has told them apart
	}
	return v.Events[mark(i):mark(i+1)]
}

func told(what string, events history.Events) string {
	var known []string
	for _, ev := range events {
		if s := learned(ev); s != "" {
			known = append(known, s)
		}
	}
	if len(known) == 0 {
		return what
	}
	return what + ": " + strings.Join(known, ", ")
}

// learned is what the event tells its client of the lock, "" for nothing.
func learned(ev history.Event) string {
	switch {
	case ev.Kind == history.KindLost:
		return ev.Client + " learns that it has lost the lock"
	case ev.Kind != history.KindReturn:
		return ""
	case ev.Op == history.OpRelease:
		return ev.Client + released[ev.Result]
	}
	return ev.Client + asked[ev.Result]
}

// asked is what the answer to an acquisition tells, and released that to a release.
var (
	asked = map[lb.Answer]string{
		lb.AnswerOK:      " is granted the lock",
		lb.AnswerFailed:  " is refused the lock",
		lb.AnswerUnknown: " does not know whether it has the lock",
	}
	released = map[lb.Answer]string{
		lb.AnswerOK:       " is told that it held the lock until now",
		lb.AnswerFailed:   "’s release fails",
		lb.AnswerUnknown:  " does not know whether the lock is given back",
		lb.AnswerLost:     " is told that it did not hold the lock",
		lb.AnswerReleased: " is told that it does not hold the lock now",
	}
)
