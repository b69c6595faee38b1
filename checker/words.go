package checker

import (
	"fmt"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// sec writes an instant as seconds since the first event of the run.
func (r *run) sec(t lb.Instant) string { return secondsSince(t, r.Start) }

func secondsSince(t, start lb.Instant) string {
	if t == Forever {
		return "the end"
	}
	return seconds(t.Sub(start))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }

// theLock names the lock of a where there is more than one.
func (r *run) theLock(a *acquisition) string { return theLock(r.Locks, r.Locks[a.Lock]) }

func theLock(locks []string, name string) string {
	if len(locks) > 1 {
		return fmt.Sprintf("the lock %q", name)
	}
	return "the lock"
}

// who names the client of an acquisition, or its id where nobody asked for it.
func (r *run) who(a *acquisition) string {
	if a.Client != none {
		return r.ClientName(a)
	}
	return fmt.Sprintf("acquisition %q", r.ID(a))
}

// finding is the begin of one about these acquisitions.
func (r *run) finding(a *acquisition, more ...*acquisition) Finding {
	f := Finding{Lock: r.Locks[a.Lock], IDs: []string{r.ID(a)}}
	for _, b := range more {
		f.IDs = append(f.IDs, r.ID(b))
	}
	return f
}

// tell describes an acquisition: when it was granted and how it ended.
func (r *run) tell(a *acquisition) string {
	var s string
	switch {
	case !a.Asked:
		s = r.who(a) + " never asked for it"
	case a.Granted():
		s = fmt.Sprintf("%s was granted it at %s", r.who(a), r.sec(a.Return))
	case a.Result == lb.AnswerFailed:
		s = fmt.Sprintf("%s did not get it at %s", r.who(a), r.sec(a.Return))
	default:
		s = fmt.Sprintf("%s asked for it at %s and never learned the outcome", r.who(a), r.sec(a.Call))
	}
	s += r.tellLeases(a)
	if a.Lost < Forever {
		s += ", learned at " + r.sec(a.Lost) + " that it was lost"
	}
	i := 0
	for rel := range r.Releases(a) {
		if i++; i > 3 {
			return s + ", and so on"
		}
		by := ""
		if a.Client != none && rel.Client != a.Client {
			by = ", by " + r.Clients[rel.Client].Name
		}
		s += fmt.Sprintf(", called release at %s (%s%s)", r.sec(rel.Call), rel.Result, by)
	}
	return s
}

// tellLeases says until when a was granted, and until when it was renewed.
func (r *run) tellLeases(a *acquisition) (s string) {
	for i, v := range r.Validity(a) {
		switch {
		case i > 0:
			s += ", began again with a renewal at " + r.sec(v.From)
		case a.Until > 0 && a.Until < a.Lost:
			if s = " until " + r.sec(a.Until); v.To == a.Until {
				continue
			}
			s += ", renewed"
		case v.To < a.Lost && v.To < Forever:
			s += ", by a renewal"
		}
		if v.To < a.Lost && v.To < Forever {
			s += " until " + r.sec(v.To)
		}
	}
	return s
}

// faultsDuring names the faults that were in force at some time of s, with what they
// measured: the likely cause.
func (r *run) faultsDuring(s span) string { return faultsDuring(r.Faults, s, r.Start) }

func faultsDuring(faults []history.Fault, s span, start lb.Instant) string {
	var said string
	for i := range faults {
		f := &faults[i]
		if force := f.Span(); f.Struck && s.From <= force.To && force.From <= s.To {
			said += "; " + f.Name + " was in force from " + secondsSince(force.From, start) + " to " + secondsSince(force.To, start)
			if f.Note != "" {
				said += " (" + f.Note + ")"
			}
		}
	}
	return said
}

// list joins names with commas and a final "and", and cuts long lists short.
func list(names []string) string {
	const most = 4
	if len(names) > most {
		names = append(names[:most:most], english.Count(len(names)-most, "other"))
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
