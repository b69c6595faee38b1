package reports

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// The words of the moments.

func (s *scene) answer(a *act) string {
	switch a.Result {
	case lb.AnswerOK:
		t := "is granted the lock"
		if a.Shared {
			t += ", shared"
		}
		if a.Token != 0 {
			t += ", token " + strconv.FormatUint(a.Token, 10)
		}
		if a.Until != 0 {
			t += ", until " + s.clock(a.Until)
		}
		return t
	case lb.AnswerFailed:
		return "does not get the lock"
	}
	return "gets no definite answer: the lock may be its own or not"
}

func (s *scene) renewed(a *act) string {
	until := a.Until
	for _, r := range a.renewals {
		until = max(until, r.Until)
	}
	return fmt.Sprintf("has renewed its lease (%s), now until %s", english.Count(len(a.renewals), "time"), s.clock(until))
}

func releaseText(r *history.Release, late, under bool) string {
	if late {
		return "releases, after its lease has ended: " + reply(r)
	}
	if under {
		return "releases the lock; the answer comes when its lease has ended: " + reply(r)
	}
	return "releases the lock: " + reply(r)
}

// strange tells of the release of an acquisition that is not its client's.
func (s *scene) strange(a *act, r *history.Release) string {
	if !a.Asked {
		return fmt.Sprintf("releases %q, which nobody asked for: %s", s.ID(a.Acquisition), reply(r))
	}
	return fmt.Sprintf("releases what is not its own but %s’s: %s", s.ClientName(a.Acquisition), reply(r))
}

func reply(r *history.Release) string {
	switch r.Result {
	case lb.AnswerOK:
		return "ok"
	case lb.AnswerLost:
		return "the lock service says that it did not hold it"
	case lb.AnswerFailed:
		return "no effect"
	}
	return "no definite answer"
}

// stale is the effect on the first copy in which a write landed over a value that its
// writer had not read, or in which a reader relied on one that was gone; nil if there is
// none.
func stale(e *history.Access) *history.Effect {
	for _, c := range []*history.Effect{&e.Plain, &e.Checked, &e.Fenced} {
		if c.Result == history.Landed && c.Base != c.Value {
			return c
		}
	}
	return nil
}

func accessLabel(e *history.Access) string {
	c := stale(e)
	switch {
	case !e.Write && c != nil:
		return fmt.Sprintf("%d, not %d", c.Value, c.Base)
	case !e.Write:
		return fmt.Sprintf("read %d", e.Plain.Value)
	case c != nil:
		return fmt.Sprintf("%d over %d", c.New, c.Value)
	}
	return fmt.Sprintf("%d→%d", e.Plain.Value, e.Plain.New)
}

func accessText(e *history.Access) string {
	if !e.Write {
		t := fmt.Sprintf("reads %d", e.Plain.Value)
		if c := stale(e); c != nil {
			t = fmt.Sprintf("reads %d, and relies on the %d that it had read before", c.Value, c.Base)
		}
		if e.Fenced.Result == history.Refused {
			t += "; the fenced copy refuses its old token"
		}
		return t
	}
	c := stale(e)
	t := fmt.Sprintf("writes %d over %d", e.Plain.New, e.Plain.Value)
	if c != nil {
		t = fmt.Sprintf("writes %d over %d though it had read %d", c.New, c.Value, c.Base)
	}
	t += ": plain " + effect(&e.Plain) + ", checked " + effect(&e.Checked)
	if e.HasFenced {
		t += ", fenced " + effect(&e.Fenced)
	}
	return t
}

func effect(c *history.Effect) string {
	if c.Result == history.Landed && c.Base != c.Value {
		return "landed stale"
	}
	return cmp.Or(c.Result.String(), "untouched")
}

// clock writes an instant as seconds since the start of the run.
func (s *scene) clock(t lb.Instant) string { return seconds(t-s.Start, 3) + " s" }

// when writes the instant of a moment as finely as the picture shows it.
func (s *scene) when(t lb.Instant) string { return seconds(t-s.Start, s.decimals) + " s" }

// seconds rounds as the checkers' sentences do. Finer than they, a float would not
// hold the digits of a very long time.
func seconds(d lb.Instant, decimals int) string {
	if decimals <= 6 {
		return strconv.FormatFloat(time.Duration(d).Seconds(), 'f', decimals, 64)
	}
	return fmt.Sprintf("%d.%09d", d/1e9, d%1e9)[:len(strconv.FormatInt(int64(d/1e9), 10))+1+decimals]
}

// spanOf is span of a length of time.
func spanOf(d lb.Instant) string { return span(float64(d) / 1e6) }
