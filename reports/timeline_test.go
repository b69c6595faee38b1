package reports

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

func wellFormed(t *testing.T, doc string) {
	t.Helper()
	if len(doc) > 300_000 {
		t.Fatalf("a picture of %d bytes", len(doc))
	}
	if strings.Contains(doc, "NaN") || strings.Contains(doc, "Inf") || strings.Contains(doc, `width="-`) {
		t.Fatalf("bad number in\n%s", doc)
	}
	for d := xml.NewDecoder(strings.NewReader(doc)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, doc)
		}
	}
}

func TestTimelineTellsTheStory(t *testing.T) {
	late, lateFinding := lateDelete()
	over, overFinding := overstay(true)
	stuck, stuckFinding := ghost()
	for _, c := range []struct {
		name string
		h    history.Events
		f    checker.Finding
		want []string
	}{
		{"double grant", late, lateFinding, []string{
			">w2.c0<", ">w3.c0<", ">two holders<", "12 over 12",
			"w1.c0 releases, after its lease has ended: ok", // the culprit, whom the finding does not name
		}},
		{"overstay", over, overFinding, []string{
			">w1.c0<", "fault: pause-holder", ">lease ends<", ">freeze w1.c0<", ": freeze w1.c0, until", `class="ice"`, `class="past"`, ">overview<",
			"plain landed stale, checked skipped, fenced refused", "1.52 s after its lease had ended", ">no grant<",
		}},
		{"ghost", stuck, stuckFinding, []string{
			">w1.c0<", ">w2.c0<", ">w3.c0<", ">killed<", "is caught at step after-setnx", "fault: kill@after-setnx",
		}},
	} {
		svg := Timeline(indexed(t, c.h), c.f, history.Plan{})
		for _, w := range c.want {
			if !strings.Contains(svg, w) {
				t.Errorf("%s: the picture lacks %q", c.name, w)
			}
		}
	}
}

// TestCause: who freed what somebody else held is drawn, numbered and named, whether its release
// was called too late or only came too late; and nobody is where each gave back its own in time.
func TestCause(t *testing.T) {
	for name, c := range map[string]struct {
		call, back float64
		answer     lb.Answer
		want, do   string
	}{
		"called late":     {97, 97.8, lb.AnswerOK, "called at 0.097 s, after its lease had ended at 0.090 s (answered: ok), while w2.c0 had been granted the lock", "releases, after its lease has ended: ok"},
		"came late":       {89, 97.8, lb.AnswerOK, "called at 0.089 s and on its way when its lease ended at 0.090 s (answered: ok)", "releases the lock; the answer comes when its lease has ended: ok"},
		"or a hand-off":   {91, 94.5, lb.AnswerOK, "What may have freed it: the release by w1.c0 of its own acquisition, called at 0.091 s, after its lease had ended at 0.090 s (answered: ok), and not yet answered when w2.c0 was granted the lock: it came before that, or after.", "releases, after its lease has ended: ok"},
		"freed nothing":   {97, 97.8, lb.AnswerLost, "", ""},
		"without effect":  {97, 97.8, lb.AnswerFailed, "", ""},
		"before the next": {91, 92, lb.AnswerOK, "", ""},
		"in time":         {80, 85, lb.AnswerOK, "", ""},
	} {
		tp := &tape{value: 10}
		tp.call(0, "w1.c0").grant(1, 90).read(4).release(c.call, c.back, c.answer)
		a := tp.call(20, "w2.c0").grant(94, 184).read(95)
		b := tp.call(40, "w3.c0").grant(98.6, 188).read(99.5)
		a.write(101, false).release(101.5, 102.2, lb.AnswerOK)
		b.write(104, false).release(104.5, 105.1, lb.AnswerOK)
		tp.add(140, history.Event{Kind: history.KindEnd})
		s := newScene(indexed(t, tp.h), checker.Finding{Mechanism: lb.DoubleGrant, At: at(98.6), From: at(20), To: at(105.1), IDs: []string{a.id, b.id}}, history.Plan{})
		if !strings.Contains(s.cause, c.want) || (s.cause == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, s.cause, c.want)
		}
		told := slices.ContainsFunc(s.moments, func(m moment) bool { return m.Client == "w1.c0" && m.Text == c.do && m.N > 0 })
		if c.want != "" && !told {
			t.Errorf("%s: %q is no moment: %+v", name, c.do, s.moments)
		}
	}
}

// TestCauseUnasked: who never heard of a grant may free what another holds, too.
func TestCauseUnasked(t *testing.T) {
	tp := &tape{value: 10}
	tp.call(0, "w1.c0").answer(50, lb.AnswerUnknown).release(97, 97.8, lb.AnswerOK)
	a := tp.call(20, "w2.c0").grant(94, 184).read(95)
	b := tp.call(40, "w3.c0").grant(98.6, 188).read(99.5)
	tp.add(140, history.Event{Kind: history.KindEnd})
	s := newScene(indexed(t, tp.h), checker.Finding{Mechanism: lb.DoubleGrant, At: at(98.6), From: at(20), To: at(105.1), IDs: []string{a.id, b.id}}, history.Plan{})
	if want := "the release by w1.c0 of its own acquisition, called at 0.097 s, of which it had heard no grant (answered: ok), while w2.c0 had been granted the lock."; !strings.Contains(s.cause, want) {
		t.Errorf("%q, want %q", s.cause, want)
	}
}

func TestTimelineOfUnknownAcquisitions(t *testing.T) {
	h, _ := ghost()
	if got := Timeline(indexed(t, h), checker.Finding{IDs: []string{"nobody"}}, history.Plan{}); got != "" {
		t.Errorf("a picture of nothing: %s", got)
	}
	if got := Timeline(indexed(t, nil), checker.Finding{IDs: []string{"a1"}}, history.Plan{}); got != "" {
		t.Errorf("a picture of an empty history: %s", got)
	}
}

func TestBoundedPictureOfABusyRun(t *testing.T) {
	tp := &tape{}
	tp.busy(0, 60_000, 1000, dice(5), "w1.c0", "w2.c0", "w3.c0")
	f := checker.Finding{From: at(0), To: at(60_000), IDs: []string{"a1", "a4000", "a8000", "a12000"}}
	if n := len(Timeline(indexed(t, tp.h), f, history.Plan{})); n == 0 || n > 400_000 {
		t.Errorf("%d bytes", n)
	}
}

func TestTimescaleCuts(t *testing.T) {
	for _, c := range []struct {
		anchors []lb.Instant
		parts   int
	}{
		{[]lb.Instant{0, 10, 22, 37}, 1},             // even
		{[]lb.Instant{0, 1, 2, 10}, 1},               // long, but it can be drawn
		{[]lb.Instant{0, 2, 3, 1000, 1003, 1005}, 2}, // one gap out of proportion
		{[]lb.Instant{0, 2, 4, 900, 2500, 2503}, 3},  // two
		{[]lb.Instant{7}, 1},
	} {
		for i := range c.anchors {
			c.anchors[i] *= 1e6
		}
		ts := newTimescale(period{From: c.anchors[0], To: c.anchors[len(c.anchors)-1] + 1}, c.anchors, 0, 800)
		if len(ts.parts) != c.parts {
			t.Errorf("%v: %d parts, want %d", c.anchors, len(ts.parts), c.parts)
		}
		last := -1.0
		for _, a := range c.anchors {
			x := ts.x(a)
			if !ts.shows(period{From: a, To: a}) || x < last || x > 800.01 {
				t.Errorf("%v: anchor %d is at %.1f after %.1f", c.anchors, a, x, last)
			}
			last = x
		}
	}
}

func ExampleTimeline() {
	h, f := lateDelete()
	ix, err := history.Of(h)
	if err != nil {
		panic(err)
	}
	svg := Timeline(ix, f, history.Plan{})
	fmt.Println(strings.HasPrefix(svg, "<svg") && strings.HasSuffix(svg, "</svg>"))
	// Output: true
}

// TestFaultsAtOnce: names of faults that are in force together stand in rows of their own, and
// what the bench did says for which of them. What has no room is still named.
func TestFaultsAtOnce(t *testing.T) {
	tp := &tape{}
	h := tp.call(10, "w1.c0").grant(20, 900)
	for i, name := range []string{"one", "two", "three", "four"} {
		tp.fault(name, 30+float64(i), 500, 510, "")
	}
	tp.add(31, history.Event{Kind: history.KindAct, Name: "cut", Target: "redis1", Fault: "two", Phase: "begin"})
	h.release(600, 610, lb.AnswerOK)
	svg := Timeline(indexed(t, tp.h), checker.Finding{Lock: "stock", IDs: []string{h.id}, From: at(20), To: at(600)}, history.Plan{})
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile(`class="bandname" x="[0-9.]+" y="([0-9.]+)">fault: (one|two|three)<`).FindAllStringSubmatch(svg, -1) {
		rows[m[1]] = true
	}
	if len(rows) != 3 || !strings.Contains(svg, "<title>fault: four</title>") || !strings.Contains(svg, "cut redis1 (two)") {
		t.Errorf("names in %d rows: %s", len(rows), svg)
	}
}
