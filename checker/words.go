package checker

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench"
)

// sec writes an instant as seconds since the first event of the run.
func (r *run) sec(t lockbench.Instant) string {
	if t == Forever {
		return "the end"
	}
	return seconds(t.Sub(r.start))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// theLock names the lock where there is more than one.
func (r *run) theLock(name string) string {
	if len(r.locks) > 1 {
		return fmt.Sprintf("the lock %q", name)
	}
	return "the lock"
}

// who names the client of an acquisition, or its id where no client is known.
func (a *acquisition) who() string {
	if a.client != "" {
		return a.client
	}
	return fmt.Sprintf("acquisition %q", a.id)
}

// tell describes an acquisition: when it was granted and how it ended.
func (r *run) tell(a *acquisition) string {
	var s string
	switch {
	case a.asked == 0:
		s = a.who() + " never asked for it"
	case a.granted():
		s = fmt.Sprintf("%s was granted it at %s", a.who(), r.sec(a.ret))
	case a.result == lockbench.Fail:
		s = fmt.Sprintf("%s was refused it at %s", a.who(), r.sec(a.ret))
	default:
		s = fmt.Sprintf("%s asked for it at %s and never learned the outcome", a.who(), r.sec(a.call))
	}
	if n := len(a.validity); n > 0 && a.validity[n-1].to < a.lost {
		s += " until " + r.sec(a.validity[n-1].to)
	}
	if a.lost < Forever {
		s += ", learned at " + r.sec(a.lost) + " that it was lost"
	}
	for i, rel := range a.releases {
		if i == 3 {
			return s + ", and so on"
		}
		s += fmt.Sprintf(", called release at %s (%s)", r.sec(rel.call), rel.result)
	}
	return s
}

// faultsDuring names the faults that were in force at some time of s and had an
// effect, with what they measured: the likely cause.
func (r *run) faultsDuring(s span) string {
	var said string
	for i, e := range r.faults {
		if e.Phase != phaseStrike {
			continue
		}
		force, effect := span{e.At, Forever}, ""
		for _, later := range r.faults[i+1:] {
			if later.Name == e.Name && later.Phase == phaseHealed {
				if force.to = later.At; later.Note != "" {
					effect = " (" + later.Note + ")"
				}
				break
			}
		}
		if s.from <= force.to && force.from <= s.to {
			said += "; " + e.Name + " was in force from " + r.sec(force.from) + " to " + r.sec(force.to) + effect
		}
	}
	return said
}

// count writes a number with its noun in the singular or plural.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// list joins names with commas and a final "and", and cuts long lists short.
func list(names []string) string {
	const most = 4
	if len(names) > most {
		names = append(names[:most:most], count(len(names)-most, "other"))
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
