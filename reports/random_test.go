package reports

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// chaos makes histories that make sense, and nothing more: anybody does anything at
// any time. Only the store is right.
type chaos struct {
	*rand.Rand
	h       history.Events
	now     lb.Instant
	grow    int // of the steps of time, as a power of two
	open    map[string]*history.Event
	asked   []history.Event // acquisitions
	dead    map[string]bool
	granted map[string]bool
	ended   bool
	seq     uint64
	value   map[string]int64 // by lock and copy
	base    map[string]int64 // by acquisition and copy
}

func (c *chaos) pick(s ...string) string { return pick(c, s...) }

func pick[T any](c *chaos, s ...T) T { return s[c.IntN(len(s))] }

func (c *chaos) when() lb.Instant {
	return c.now + lb.Instant(c.Int64N(1<<c.grow)) - lb.Instant(c.Int64N(1<<c.grow))/4
}

func (c *chaos) until() lb.Instant { return min(max(c.when(), 1), 1<<62) }

func (c *chaos) add(e history.Event) { e.At = c.now; c.h = append(c.h, e) }

// anything is such a history of up to 80 events, at times up to about two to the power
// of grow plus six.
func anything(r *rand.Rand, grow int) history.Events {
	c := &chaos{Rand: r, grow: grow, open: map[string]*history.Event{}, dead: map[string]bool{}, granted: map[string]bool{}, value: map[string]int64{}, base: map[string]int64{}}
	c.now = lb.Instant(r.Int64N(1 << grow))
	for range 1 + r.IntN(80) {
		if c.IntN(5) > 0 {
			c.now = min(c.now+lb.Instant(c.Int64N(1<<c.IntN(c.grow))), 1<<62)
		}
		c.event()
	}
	return c.h
}

func (c *chaos) event() {
	client := c.pick("w1.c<0>", "w1.c1", "w2.c&", "w3.c0", "solo")
	alive := !c.dead[history.WorkerName(client)]
	e := history.Event{Client: client, Lock: c.pick("l", "l", "l", "m"), ID: fmt.Sprint("a", len(c.asked))}
	var mine []history.Event
	for _, a := range c.asked {
		if a.Client == client {
			mine = append(mine, a)
		}
	}
	switch what := c.IntN(16); {
	case what < 6 && alive:
		c.operate(e)
	case what == 6 && c.now > 0:
		c.add(history.Event{Kind: history.KindSilent, Worker: c.pick("w1", "w2"), Call: max(1, min(c.when(), c.now))})
	case what == 7 && c.IntN(6) == 0:
		w := c.pick("w1", "w3")
		c.dead[w] = true
		c.add(history.Event{Kind: history.KindDead, Worker: w})
	case what == 8:
		c.add(history.Event{Kind: history.KindFault, Name: c.pick("f&g", "x"), Phase: c.pick("strike", "heal", "healed"), Proven: true, Note: "<b>"})
	case what == 7:
		c.add(history.Event{Kind: history.KindAct, Name: c.pick("kill", "a<b"), Target: client, Phase: c.pick(history.PhaseBegin, history.PhaseEnd), Note: c.pick("", "<i>")})
	case what == 9 && !c.ended && c.IntN(6) == 0:
		c.ended = true
		c.add(history.Event{Kind: history.KindEnd})
	case len(mine) > 0:
		a := mine[c.IntN(len(mine))]
		e.ID, e.Lock = a.ID, a.Lock
		if what < 13 {
			c.access(e)
		} else if alive {
			e.Kind = history.Kind(c.pick("renew", "lost", "step"))
			e.Name = "a step"
			if e.Kind == history.KindRenew {
				e.Until = max(c.until(), c.now)
				if !c.granted[e.ID] {
					return
				}
			}
			c.add(e)
		}
	}
}

// operate calls, or answers what was called.
func (c *chaos) operate(e history.Event) {
	if o := c.open[e.Client]; o != nil && c.IntN(4) > 0 {
		r := *o
		r.Kind, r.Result = history.KindReturn, pick(c, lb.AnswerOK, lb.AnswerOK, lb.AnswerOK, lb.AnswerFailed, lb.AnswerUnknown)
		if r.Op == history.OpRelease && c.IntN(4) == 0 {
			r.Result = lb.AnswerLost
		}
		if r.Op == history.OpAcquire && r.Result == lb.AnswerOK {
			c.granted[r.ID], r.Token = true, uint64(c.IntN(3))
			if c.IntN(4) > 0 {
				r.Until = c.until()
			}
		}
		c.open[e.Client] = nil
		c.add(r)
		return
	}
	e.Kind, e.Op = history.KindCall, history.OpAcquire
	switch {
	case len(c.asked) > 0 && c.IntN(2) == 0:
		a := c.asked[c.IntN(len(c.asked))]
		e.Op, e.ID, e.Lock = history.OpRelease, a.ID, a.Lock
	case c.IntN(20) == 0:
		e.Op, e.ID = history.OpRelease, "nobody's"
	default:
		e.Shared = c.IntN(5) == 0
		c.asked = append(c.asked, e)
	}
	c.open[e.Client] = &e
	c.add(e)
}

func (c *chaos) access(e history.Event) {
	e.Kind, e.Copies = history.KindRead, &history.CopyEffects{Fenced: &history.CopyEffect{}}
	write := c.IntN(2) == 0
	if write {
		e.Kind = history.KindWrite
	}
	for i, eff := range []*history.CopyEffect{&e.Copies.Plain, &e.Copies.Checked, e.Copies.Fenced} {
		value, base := fmt.Sprint(e.Lock, i), fmt.Sprint(e.ID, i)
		eff.Value = c.value[value]
		if !write {
			c.base[base] = eff.Value
			continue
		}
		eff.Base, eff.New = c.base[base], c.base[base]+1
		if eff.Result = pick(c, history.Landed, history.Landed, history.Skipped, history.Refused); eff.Result == history.Landed {
			c.value[value] = eff.New
		}
	}
	c.seq++
	e.Seq = c.seq
	c.add(e)
}

// accusation is a finding that nobody has proved.
func (c *chaos) accusation() checker.Finding {
	f := checker.Finding{Lock: c.pick("l", "l", "m", "", "other"), At: c.when(), From: c.when(), To: c.when(),
		Mechanism: c.pick(lb.DoubleGrant, lb.Overstay, lb.Ghost, lb.VanishedGrant, lb.EarlyRelease, "")}
	for range 1 + c.IntN(6) {
		f.IDs = append(f.IDs, c.pick("a0", "a1", "a2", "a3", "a5", "a8", "nobody's"))
	}
	if c.IntN(9) == 0 {
		f.From, f.To = -forever, forever
	}
	return f
}

// TestTimelineOfAnything: whatever a history holds, and whatever is said of it, the
// picture must come out well-formed, bounded and inside its frame, and soon.
func TestTimelineOfAnything(t *testing.T) {
	r := dice(11)
	drawn := 0
	for range 4000 {
		c := &chaos{Rand: r, grow: 5 + r.IntN(56)}
		ix := indexed(t, anything(r, c.grow))
		c.now = ix.Start
		f := c.accusation()
		begin := time.Now()
		svg := Timeline(ix, f, history.Plan{TTL: time.Duration(r.Int64N(1 << c.grow))})
		if d := time.Since(begin); d > 5*time.Second {
			t.Fatalf("%v for %d acquisitions", d, len(ix.Acqs))
		}
		if svg != "" {
			drawn++
			wellFormed(t, svg)
		}
	}
	if drawn < 1000 {
		t.Errorf("only %d pictures", drawn)
	}
}

// TestPicturesAgreeWithVerdicts draws what the checkers find in random histories: the
// picture must show what the verdict says, and must not accuse where it does not.
func TestPicturesAgreeWithVerdicts(t *testing.T) {
	r := dice(12)
	shown := map[string]int{}
	for range 1500 {
		h := anything(r, 8+r.IntN(20))
		ix := indexed(t, h)
		var plan history.Plan
		res := checker.Check(t.Context(), plan, ix)
		verdicts := map[string]checker.Verdict{}
		for _, l := range res.Layers {
			verdicts[l.Name] = l.Verdict
			for _, f := range l.Findings {
				if len(f.IDs) == 0 {
					continue
				}
				s := newScene(ix, f, plan)
				if s == nil {
					t.Fatalf("no picture of %+v", f)
				}
				if why := contradiction(s, f); why != "" {
					t.Fatalf("%s: %s: %s\n%+v\n%s", f.Layer, f.Mechanism, why, s.moments, text(h))
				}
				shown[f.Layer+" "+f.Mechanism]++
			}
		}
		c := &chaos{Rand: r, grow: 20}
		s := newScene(ix, c.accusation(), plan)
		if s == nil {
			continue
		}
		for word, layer := range map[string]string{"after its lease had ended": checker.LayerOverstay, "learned that it lost the lock:": checker.LayerOverstay,
			"though it had read": checker.LayerStore} {
			if verdicts[layer] == checker.Valid && strings.Contains(s.describe(), word) {
				t.Fatalf("%s is valid, but the picture says %q\n%s", layer, word, text(h))
			}
		}
		if len(s.both) > 0 && verdicts[checker.LayerBelief] == checker.Valid {
			t.Fatalf("two holders in a picture of a lock that never had two\n%s", text(h))
		}
	}
	for _, want := range []string{"belief double grant", "overstay overstay", "store overstay", "store early release", "store double grant", "grant double grant", "grant vanished grant"} {
		if shown[want] == 0 {
			t.Errorf("no finding of %s among %v", want, shown)
		}
	}
}

// contradiction says what of a proved finding its picture lacks.
func contradiction(s *scene, f checker.Finding) string {
	badAt := func(words ...string) bool {
		return slices.ContainsFunc(s.moments, func(m moment) bool {
			return m.At == f.At && m.Bad && (len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(m.Text, w) }))
		})
	}
	switch f.Layer {
	case checker.LayerBelief:
		if len(s.both) != 1 || s.both[0].From != f.At {
			return fmt.Sprintf("two holders %v, not from %d", s.both, f.At)
		}
	case checker.LayerOverstay:
		if !badAt("after its lease had ended", "after it had learned") {
			return "nobody writes too late"
		}
	case checker.LayerStore:
		if !badAt("though it had read") {
			return "no stale write"
		}
		if f.Mechanism == lb.EarlyRelease && !strings.Contains(s.describe(), "after it had begun to give the lock back") {
			return "nobody writes after a release"
		}
		trespass := regexp.MustCompile("after its lease had ended|after it had learned|been granted the lock|before it was granted|under way when it was killed")
		if f.Mechanism == lb.Overstay && len(s.named[0].belief) > 0 && !trespass.MatchString(s.describe()) {
			return "nobody writes without the lock"
		}
	}
	return ""
}

func text(h history.Events) string {
	var b strings.Builder
	if err := history.WriteTo(&b, h); err != nil {
		panic(err)
	}
	return b.String()
}
