package checker

import (
	"os"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// FuzzCheck damages a good history, three bytes a blow, and wants every layer to
// come to an end with an answer that blames the history and not the checker.
func FuzzCheck(f *testing.F) {
	f.Add("testdata/safe", []byte{})
	f.Add("testdata/late-del", []byte{3, 0, 9, 40, 1, 2, 7, 2, 1, 9, 3, 200, 12, 4, 3, 13, 5, 4})
	f.Add("testdata/late-renewal", []byte{20, 6, 30, 21, 6, 31, 22, 7, 7, 23, 8, 2})
	f.Add("testdata/ghost", []byte{1, 1, 0, 1, 1, 0, 1, 1, 0, 60, 9, 60})
	f.Fuzz(func(t *testing.T, name string, blows []byte) {
		if strings.Contains(name, "..") || !strings.HasPrefix(name, "testdata/") {
			return
		}
		if _, err := os.Stat(name + ".jsonl"); err != nil {
			return
		}
		plan, h := readPlan(t, name+".plan.json"), readHistory(t, name+".jsonl")
		for ; len(blows) >= 3 && len(h) > 0; blows = blows[3:] {
			h = blow(h, int(blows[0]), int(blows[1]), int(blows[2]))
		}
		plan.Traits.Fair, plan.Traits.Leased, plan.Traits.LostNotice = true, true, true
		if ix, err := history.Of(h); err == nil {
			r := Check(t.Context(), plan, ix)
			if len(r.Layers) != len(layers)-countless(ix) || r.Outcome == "" {
				t.Fatalf("%+v", r)
			}
			for _, l := range r.Layers {
				if strings.Contains(l.Summary, "failed") || strings.Contains(l.Summary, "bug") || strings.Contains(l.Summary, "come to an end") {
					t.Fatalf("%s: %s", l.Name, l.Summary)
				}
			}
		}
		watch(&Online{}, h)
		watch(&Online{Slack: 1e6}, h)
	})
}

// blow does one thing to one event.
func blow(h history.Events, where, what, how int) history.Events {
	i, k := where%len(h), how%len(h)
	e := &h[i]
	results := []lb.Answer{lb.AnswerOK, lb.AnswerFailed, lb.AnswerUnknown, lb.AnswerLost, lb.AnswerReleased}
	switch what % 11 {
	case 0:
		e.At += lb.Instant(how-128) * 1e7
	case 1:
		return append(h[:i], h[i+1:]...)
	case 2:
		return append(h, *e)
	case 3:
		h[i], h[k] = h[k], h[i]
	case 4:
		e.Result = results[how%len(results)]
	case 5:
		e.ID = h[k].ID
	case 6:
		e.Until = h[k].At
	case 7:
		e.Kind = h[k].Kind
	case 8:
		e.Client, e.Shared = h[k].Client, how%2 == 0
	case 9:
		e.Copies, e.Seq = h[k].Copies, h[k].Seq
	case 10:
		e.Op, e.Lock = h[k].Op, strings.Repeat("l", how%3)
	}
	return h
}
