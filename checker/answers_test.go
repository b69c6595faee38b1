package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestAnswers: what fails while no fault is in force is told with how it failed, and what fails under
// a fault, or because its caller went away, is no matter. No outcome depends on it.
func TestAnswers(t *testing.T) {
	const acquires, second = 100, lb.Instant(time.Second)
	for name, c := range map[string]struct {
		fails   func(i int) (fails, told bool)
		fault   [2]lb.Instant // in seconds
		may     float64       // what the lock declares
		want    Verdict
		summary string
	}{
		"none":            {func(int) (bool, bool) { return false, false }, [2]lb.Instant{}, 0, Valid, "100 acquires while no fault was in force, of which 0 ended in an error"},
		"each third":      {func(i int) (bool, bool) { return i%3 == 0, true }, [2]lb.Instant{}, 0, Invalid, "34 of 100 acquires ended in an error while no fault was in force, such as: deadlock found at 0"},
		"refused":         {func(i int) (bool, bool) { return i%3 == 0, false }, [2]lb.Instant{}, 0, Valid, "of which 0 ended in an error"},
		"two":             {func(i int) (bool, bool) { return i < 2, true }, [2]lb.Instant{}, 0, Valid, "of which 2 ended in an error"},
		"under the fault": {func(i int) (bool, bool) { return i >= 40 && i < 60, true }, [2]lb.Instant{40, 58}, 0, Valid, "of which 0 ended in an error"},
		"and long after":  {func(i int) (bool, bool) { return i >= 40 && i < 70, true }, [2]lb.Instant{40, 58}, 0, Invalid, "10 of 80 acquires ended in an error"},
		"as declared":     {func(i int) (bool, bool) { return i%3 == 0, true }, [2]lb.Instant{}, 0.35, Valid, "of which 34 ended in an error (it declares that up to 35% may)"},
		"more than that":  {func(i int) (bool, bool) { return i%3 == 0, true }, [2]lb.Instant{}, 0.3, Invalid, "34 of 100 acquires ended in an error"},
	} {
		t.Run(name, func(t *testing.T) {
			var h history.Events
			for i := range acquires {
				at := lb.Instant(i)*second + second/10
				id := fmt.Sprint(i)
				if c.fault[1] > 0 && lb.Instant(i) == c.fault[0] {
					h = append(h, history.Event{At: c.fault[0] * second, Kind: history.KindFault, Name: "f", Phase: history.PhaseStrike})
				}
				if c.fault[1] > 0 && lb.Instant(i) == c.fault[1] {
					h = append(h, history.Event{At: c.fault[1] * second, Kind: history.KindFault, Name: "f", Phase: history.PhaseHeal},
						history.Event{At: c.fault[1] * second, Kind: history.KindFault, Name: "f", Phase: history.PhaseHealed})
				}
				ask := history.Event{At: at, Kind: history.KindCall, Op: history.OpAcquire, Client: "c", Lock: "L", ID: id}
				ret := ask
				ret.At, ret.Kind = at+second/10, history.KindReturn
				if fails, told := c.fails(i); fails {
					ret.Result, ret.Error, ret.Note = lb.AnswerFailed, told, fmt.Sprintf("deadlock\nfound at %d", i)
					h = append(h, ask, ret)
					continue
				}
				give := ask
				give.At, give.Op = at+2*second/10, history.OpRelease
				back := give
				back.At, back.Kind = at+3*second/10, history.KindReturn
				h = append(h, ask, ret, give, back)
			}
			ix, err := history.Of(append(h, history.Event{At: acquires * second, Kind: history.KindEnd}))
			if err != nil {
				t.Fatal(err)
			}
			res := Check(t.Context(), history.Plan{TTL: time.Second, Traits: lb.Traits{Fails: c.may}}, ix)
			tellsBeside(t, res, LayerAnswers, c.want, c.summary)
		})
	}
}

// tellsBeside wants a layer's verdict, with the words, and that it is told as a claim where it is broken, and
// changes no outcome.
func tellsBeside(t *testing.T, res Result, layer string, want Verdict, says string) {
	t.Helper()
	i := slices.IndexFunc(res.Layers, func(l Layer) bool { return l.Name == layer })
	if i < 0 {
		t.Fatalf("no layer %s", layer)
	}
	if l := res.Layers[i]; l.Verdict != want || !strings.Contains(l.Summary, says) {
		t.Errorf("%s: %s, want %s: %q", l.Verdict, l.Summary, want, says)
	}
	if told := slices.ContainsFunc(res.Claims, func(u Unkept) bool { return u.Claim == layer }); told != (want == Invalid) {
		t.Errorf("claims %q", res.Claims)
	}
	if res.Outcome == lb.Broken || res.Outcome == lb.Stuck {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
}

// TestCalledUnderAFault: who asked under a fault and fails long after it fails by that.
func TestCalledUnderAFault(t *testing.T) {
	for call, want := range map[int]Verdict{41: Valid, 65: Invalid} {
		const second = lb.Instant(time.Second)
		fault := func(at int, p string) history.Event {
			return history.Event{At: lb.Instant(at) * second, Kind: history.KindFault, Name: "f", Phase: p}
		}
		// What was recorded first need not have happened first: there are several recorders.
		var events history.Events
		for i := range 3 {
			late := history.Event{At: lb.Instant(75+i) * second, Kind: history.KindCall, Op: history.OpAcquire, Client: fmt.Sprint("d", i), Lock: []string{"L", "M", "N"}[i], ID: fmt.Sprint("d", i)}
			granted := late
			granted.At, granted.Kind = late.At+second, history.KindReturn
			events = append(events, late, granted)
		}
		events = append(events, fault(40, history.PhaseStrike), fault(58, history.PhaseHeal), fault(58, history.PhaseHealed))
		for i := range 5 {
			ask := history.Event{At: lb.Instant(call) * second, Kind: history.KindCall, Op: history.OpAcquire, Client: fmt.Sprint("c", i), Lock: "L", ID: fmt.Sprint(i)}
			ret := ask
			ret.At, ret.Kind, ret.Result, ret.Error = 70*second, history.KindReturn, lb.AnswerFailed, true
			events = append(events, ask, ret)
		}
		events = append(events, history.Event{At: 80 * second, Kind: history.KindEnd})
		ix, err := history.Of(events)
		if err != nil {
			t.Fatal(err)
		}
		tellsBeside(t, Check(t.Context(), history.Plan{TTL: time.Second}, ix), LayerAnswers, want, "ended in an error")
	}
}
