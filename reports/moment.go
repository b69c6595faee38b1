package reports

import (
	"cmp"
	"slices"
	"strconv"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// moment is one step of the story, marked by its number in the picture and told
// in words in the list below it.
type moment struct {
	N      int
	At     lb.Instant
	client int32
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

// How much is told of one acquisition; of more, the first and the last.
const (
	maxAccesses    = 6
	maxBadAccesses = 3
	maxLookedAt    = 1000
	maxReleases    = 4
	maxSilences    = 4
	maxSteps       = 8
)

// teller collects what happened in one acquisition.
type teller struct {
	*scene
	*act
	out []moment
}

func (t *teller) add(at lb.Instant, text string, edit func(*moment)) {
	t.by(t.Client, at, text, edit)
}

// by adds what a client did that need not be the acquisition's.
func (t *teller) by(client int32, at lb.Instant, text string, edit func(*moment)) {
	m := moment{At: at, client: client, Text: text, rank: 9}
	if client != history.None {
		m.Client = t.Clients[client].Name
	}
	if edit != nil {
		edit(&m)
	}
	t.out = append(t.out, m)
}

func (s *scene) momentsOf(a *act, f checker.Finding) []moment {
	t := teller{scene: s, act: a}
	if a.Asked && !a.Granted() {
		t.add(a.Call, "asks for the lock", nil)
	}
	for _, e := range few(s.stepsOf(a.n), maxSteps) {
		t.add(e.At, "is caught at step "+e.Name, func(m *moment) { m.label, m.rank, m.wide = e.Name, 3, true })
	}
	if a.Return < forever {
		t.add(a.Return, s.answer(a), func(m *moment) {
			m.rank = 2
			if a.Token != 0 {
				m.label = "token " + strconv.FormatUint(a.Token, 10)
			}
		})
	}
	if n := len(a.renewals); n > 0 {
		t.add(a.renewals[n-1].At, s.renewed(a), func(m *moment) { m.soft = true })
	}
	silences := slices.DeleteFunc(s.SilentIn(a.Client, period{From: a.from, To: a.stop()}), func(p period) bool { return p.From == p.To })
	for _, p := range few(silences, maxSilences) {
		t.add(p.From, "freezes: its process does not run", func(m *moment) { m.label, m.rank = "frozen", 5 })
		t.add(p.To, "runs again, after "+spanOf(p.To-p.From), nil)
	}
	t.endings(f)
	for _, e := range s.telling(a, f.At) {
		t.access(e)
	}
	for _, r := range few(a.releases, maxReleases) {
		t.release(r, f)
	}
	return t.out
}

func (s *scene) stepsOf(n int32) []history.Step {
	var out []history.Step
	for _, e := range s.Steps {
		if e.Acq == n {
			out = append(out, e)
		}
	}
	return out
}

// telling are the accesses of a that must be told: the first and the last, and up to t,
// the instant that the finding is about, the last that hurt.
func (s *scene) telling(a *act, t lb.Instant) []*history.Access {
	told := few(a.accesses, maxAccesses)
	var before []*history.Access
	for _, e := range a.accesses {
		if e.At <= t && !slices.Contains(told, e) {
			before = append(before, e)
		}
	}
	before = before[max(0, len(before)-maxLookedAt):]
	for extra := 0; len(before) > 0 && extra < maxBadAccesses; before = before[:len(before)-1] {
		if e := before[len(before)-1]; stale(e) != nil || s.trespass(a, e) != "" {
			extra++
			told = append(told, e)
		}
	}
	return told
}

// endings are the ways in which a client's hold ends other than by its release.
func (t *teller) endings(f checker.Finding) {
	a := t.act
	if a.lapsed != a.Lost && a.lapsed <= t.Last {
		t.add(a.lapsed, "comes to the end of its lease, by its own reckoning", func(m *moment) { m.label, m.rank, m.wide = "lease ends", 1, true })
	}
	if a.Lost < forever {
		t.add(a.Lost, "learns that it lost the lock", func(m *moment) { m.label, m.rank = "told: lost", 2 })
	}
	if a.dead < forever && !a.over() {
		t.add(a.dead, "is killed", func(m *moment) { m.label, m.rank, m.wide = "killed", 1, a.dead <= f.To })
	}
}

// access tells of a read or a write, and what its client had to know of its lock then.
func (t *teller) access(e *history.Access) {
	text, bad := accessText(e), stale(e) != nil
	why := t.trespass(t.act, e)
	if why != "" {
		text, bad = text+", "+why, bad || e.At <= t.dead
	}
	t.add(e.At, text, func(m *moment) {
		m.label, m.rank, m.Bad, m.wide = accessLabel(e), 3, bad, bad || why != ""
		if bad {
			m.rank = 0
		}
	})
}

// trespass says how a client came to write without its lock, "" if it had it. It
// agrees with the checkers: a lease that had ended says more than a release, and what
// was under way when its process was killed is no overstay.
func (s *scene) trespass(a *act, e *history.Access) string {
	if !e.Write && !e.Confirms() || history.Within(a.belief, e.At) {
		return ""
	}
	ended, over := s.EndedBefore(a.Acquisition, e.At)
	over = over && e.At <= a.dead
	switch {
	case over && ended == a.Lost:
		return spanOf(e.At-ended) + " after it had learned that it lost the lock"
	case over:
		return spanOf(e.At-ended) + " after its lease had ended"
	case a.Granted() && a.released < e.At:
		return spanOf(e.At-a.released) + " after it had begun to give the lock back"
	case a.dead < e.At:
		return "which was under way when it was killed"
	case !a.Granted():
		return "though it had not been granted the lock"
	case e.At < a.Return:
		return "before it was granted the lock"
	}
	return "" // at the instant in which it called release
}

// release tells of an attempt to give the acquisition back, by whoever made it.
func (t *teller) release(r *history.Release, f checker.Finding) {
	a := t.act
	if r.Client != a.Client {
		t.by(r.Client, r.Call, t.strange(a, r), func(m *moment) {
			m.rank, m.label = 4, "release"
			if r.Result == lb.AnswerOK {
				m.Bad, m.wide = true, history.Within(a.belief, r.Call)
			}
		})
		return
	}
	late := min(t.LeaseEnd(a.Acquisition), a.Lost) < returned(r)
	t.add(r.Call, releaseText(r, a.lapsed < r.Call, late), func(m *moment) {
		m.rank, m.wide = 6, late && !slices.Contains(f.IDs, t.ID(a.Acquisition))
		m.label = "release"
		if f.Mechanism == lb.VanishedGrant && r.Result == lb.AnswerLost && r.Call < t.MayEnd(a.Acquisition) {
			m.label, m.rank, m.Bad = "not held", 0, true
		}
	})
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
		return s.laneOf(m.client) < 0 || !s.ts.shows(period{From: m.At, To: m.At})
	})
	slices.SortStableFunc(s.moments, func(a, b moment) int { return cmp.Compare(a.At, b.At) })
	for i := range s.moments {
		s.moments[i].N = i + 1
	}
}
