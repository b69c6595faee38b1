package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/lockbench/lockbench"
)

// moment is one step of the story, marked by its number in the picture and told
// in words in the list below it.
type moment struct {
	N      int
	At     lockbench.Instant
	Client string
	Text   string
	// Bad marks what hurt, or would have hurt without further care.
	Bad bool
	// label stands in the picture itself, where there is room; the smaller rank
	// gets the room.
	label string
	rank  int
	soft  bool // does not claim room in the picture
	wide  bool // belongs to the story even outside of the finding's own range
}

// maxAccesses of one acquisition are told; of more, the first and the last.
const maxAccesses = 6

func (s *scene) momentsOf(a *acquisition, f lockbench.Finding) []moment {
	var out []moment
	add := func(at lockbench.Instant, text string, edit func(*moment)) {
		m := moment{At: at, Client: a.client, Text: text, rank: 9}
		if edit != nil {
			edit(&m)
		}
		out = append(out, m)
	}
	if !a.granted() {
		add(a.call, "asks for the lock", nil)
	}
	for _, e := range a.steps {
		add(e.At, "is caught at step "+e.Name, func(m *moment) { m.label, m.rank, m.wide = e.Name, 3, true })
	}
	if a.ret != 0 {
		add(a.ret, s.answer(a), func(m *moment) {
			m.rank = 2
			if a.token != 0 {
				m.label = "token " + strconv.FormatUint(a.token, 10)
			}
		})
	}
	if n := len(a.renewals); n > 0 {
		r := a.renewals[n-1]
		add(r.At, fmt.Sprintf("has renewed its lease (%s), now until %s", plural(n, "time", "times"), s.clock(r.Until)),
			func(m *moment) { m.soft = true })
	}
	for _, p := range few(s.story.silentIn(a.client, period{a.call, a.stop()}), 4) {
		add(p.from, "freezes: its process does not run", func(m *moment) { m.label, m.rank = "frozen", 5 })
		add(p.to, "runs again, after "+span(float64(p.to-p.from)/1e6), nil)
	}
	s.endings(a, add)
	end := a.leaseEnd()
	for _, e := range few(a.accesses, maxAccesses) {
		late := e.Kind == lockbench.KindWrite && end != 0 && end < e.At
		add(e.At, accessText(e), func(m *moment) {
			m.label, m.rank = accessLabel(e), 3
			if late {
				m.Text += ", " + span(float64(e.At-end)/1e6) + " after its lease had ended"
			}
			if late || stale(e) {
				m.Bad, m.rank, m.wide = true, 0, true
			}
		})
	}
	for _, r := range few(a.releases, 4) {
		add(r.call, releaseText(r, end != 0 && end < r.call), func(m *moment) {
			m.rank, m.wide = 6, end != 0 && end < r.call && !slices.Contains(f.IDs, a.id)
			m.label = "release"
		})
	}
	return out
}

// endings are the ways in which a client's hold ends other than by its release.
func (s *scene) endings(a *acquisition, add func(lockbench.Instant, string, func(*moment))) {
	if end := a.leaseEnd(); end != 0 && end != a.lost && end <= s.story.end {
		add(end, "comes to the end of its lease, by its own reckoning", func(m *moment) { m.label, m.rank, m.wide = "lease ends", 1, true })
	}
	if a.lost != 0 {
		add(a.lost, "learns that it lost the lock", func(m *moment) { m.label, m.rank = "told: lost", 2 })
	}
	if a.dead != 0 && a.dead <= s.story.end && a.spans().has(a.dead) {
		add(a.dead, "is killed", func(m *moment) { m.label, m.rank, m.wide = "killed", 1, true })
	}
}

func (s *scene) answer(a *acquisition) string {
	switch a.result {
	case lockbench.OK:
		t := "is granted the lock"
		if a.token != 0 {
			t += ", token " + strconv.FormatUint(a.token, 10)
		}
		if a.until != 0 {
			t += ", until " + s.clock(a.until)
		}
		return t
	case lockbench.Fail:
		return "is refused the lock"
	}
	return "gets no definite answer: the lock may be its own or not"
}

func releaseText(r release, late bool) string {
	t := "releases the lock"
	if late {
		t = "releases, after its lease has ended"
	}
	switch r.result {
	case lockbench.OK:
		return t + ": ok"
	case lockbench.Lost:
		return t + ": the lock service says that it did not hold it"
	case lockbench.Fail:
		return t + ": no effect"
	}
	return t + ": no definite answer"
}

// stale reports whether a write to the plain copy landed over a value that its
// writer had not read.
func stale(e lockbench.Event) bool {
	return e.Kind == lockbench.KindWrite && e.Copies != nil &&
		e.Copies.Plain.Result == lockbench.Landed && e.Copies.Plain.Base != e.Copies.Plain.Value
}

func accessLabel(e lockbench.Event) string {
	switch {
	case e.Copies == nil:
		return string(e.Kind)
	case e.Kind == lockbench.KindRead:
		return fmt.Sprintf("read %d", e.Copies.Plain.Value)
	case stale(e):
		return fmt.Sprintf("%d over %d", e.Copies.Plain.New, e.Copies.Plain.Value)
	}
	return fmt.Sprintf("%d→%d", e.Copies.Plain.Value, e.Copies.Plain.New)
}

func accessText(e lockbench.Event) string {
	switch {
	case e.Copies == nil:
		return "accesses the store (" + string(e.Kind) + ")"
	case e.Kind == lockbench.KindRead:
		t := fmt.Sprintf("reads %d", e.Copies.Plain.Value)
		if f := e.Copies.Fenced; f != nil && f.Result == lockbench.Refused {
			t += "; the fenced copy refuses its old token"
		}
		return t
	}
	p := e.Copies.Plain
	t := fmt.Sprintf("writes %d over %d", p.New, p.Value)
	if stale(e) {
		t += fmt.Sprintf(" though it had read %d", p.Base)
	}
	t += ": plain " + effect(p) + ", checked " + effect(e.Copies.Checked)
	if f := e.Copies.Fenced; f != nil {
		t += ", fenced " + effect(*f)
	}
	return t
}

func effect(c lockbench.CopyEffect) string {
	if c.Result == lockbench.Landed && c.Base != c.Value {
		return "landed stale"
	}
	return cmp.Or(c.Result, "untouched")
}

// clock writes an instant as seconds since the start of the run.
func (s *scene) clock(t lockbench.Instant) string {
	return strconv.FormatFloat(t.Sub(s.story.start).Seconds(), 'f', 3, 64) + " s"
}

// when writes the instant of a moment as finely as the picture shows it.
func (s *scene) when(t lockbench.Instant) string {
	return strconv.FormatFloat(t.Sub(s.story.start).Seconds(), 'f', s.decimals, 64) + " s"
}

// few are at most n of list: its beginning and its end.
func few[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return append(slices.Clone(list[:n/2]), list[len(list)-(n-n/2):]...)
}

// number sorts the moments by time and counts those that the picture shows.
func (s *scene) number() {
	s.moments = slices.DeleteFunc(s.moments, func(m moment) bool {
		return s.laneOf(m.Client) < 0 || !s.ts.shows(period{m.At, m.At})
	})
	slices.SortStableFunc(s.moments, func(a, b moment) int { return cmp.Compare(a.At, b.At) })
	for i := range s.moments {
		s.moments[i].N = i + 1
	}
}
