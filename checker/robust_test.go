package checker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit"
)

// TestPanicIsAResult: a checker that crashes makes its layer undecided, and the
// others are judged all the same.
func TestPanicIsAResult(t *testing.T) {
	broken := append([]layer{{name: "broken", judge: func(*run) Layer { panic("at the disco") }}}, layers...)
	s := tell(history.Plan{}).busy(10, 12)
	r := check(t.Context(), Options{}, s.plan, indexed(s.events), broken)
	l := layerOf(r, "broken")
	if l.Verdict != Undecided || !strings.Contains(l.Summary, "at the disco") {
		t.Errorf("%+v", l)
	}
	if v := layerOf(r, LayerGrant).Verdict; v != Valid {
		t.Errorf("grant is %s", v)
	}
	if r.Outcome != lb.Inconclusive || !strings.HasPrefix(r.Reason, "broken is undecided") {
		t.Errorf("%s %q", r.Outcome, r.Reason)
	}
}

// TestGarbage feeds random events. Hardly any of them make sense; those that do are
// judged, and nothing may fail or change what it was given.
func TestGarbage(t *testing.T) {
	n := uint64(20_000)
	if testkit.All() {
		n = 50_000
	}
	for seed := range n {
		h := garbage(rand.New(rand.NewPCG(seed, 3)))
		before := fmt.Sprint(h)
		if ix, err := history.Of(h); err == nil {
			r := Check(t.Context(), history.Plan{TTL: 5, Traits: lb.Traits{Fenced: seed%2 == 0, Fair: true, Leased: true, LostNotice: true}, Algorithm: "a"}, ix)
			if len(r.Layers) != len(layers)-countless(ix) || r.Outcome == "" {
				t.Fatalf("seed %d: %+v", seed, r)
			}
			for _, l := range r.Layers {
				if strings.Contains(l.Summary, "failed") || strings.Contains(l.Summary, "bug") {
					t.Errorf("seed %d: %s: %s\n%s", seed, l.Name, l.Summary, before)
				}
			}
		}
		if fmt.Sprint(h) != before {
			t.Fatalf("seed %d: the history was changed", seed)
		}
	}
}

func garbage(rng *rand.Rand) history.Events {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	when := func() lb.Instant { return lb.Instant(rng.IntN(60) - 3) }
	effect := func() history.CopyEffect {
		return history.CopyEffect{Value: rng.Int64N(3), Base: rng.Int64N(3), New: rng.Int64N(3),
			Result: []history.Decision{history.Landed, history.Landed, history.Refused, history.Skipped, 0, 99}[rng.IntN(6)]}
	}
	kinds := []string{"call", "call", "call", "return", "return", "return", "renew", "lost", "read", "write", "step", "silent", "dead", "fault", "act", "failed", "end", "odd", ""}
	h := make(history.Events, rng.IntN(40))
	for i := range h {
		h[i] = history.Event{At: when(), Kind: history.Kind(pick(kinds...)), Op: pick("acquire", "release", "odd"),
			Client: pick("w1.c0", "w1.c1", "w2.c0", "", "."), Lock: pick("l", "l", "m"), ID: pick("a", "b", "c", "d", "e", ""),
			Shared: rng.IntN(5) == 0, Result: []lb.Answer{lb.AnswerOK, lb.AnswerOK, lb.AnswerFailed, lb.AnswerUnknown, lb.AnswerLost, lb.AnswerReleased, 99}[rng.IntN(7)],
			Token: rng.Uint64N(4), Until: when(), Call: when(), Worker: pick("w1", "w2", ""), Name: "n",
			Target: "w1", Phase: pick("strike", "heal", "healed", "begin", "end"), Proven: rng.IntN(2) == 0, Seq: rng.Uint64N(9)}
		if rng.IntN(3) > 0 {
			h[i].Copies = &history.CopyEffects{Plain: effect(), Checked: effect()}
			if rng.IntN(2) == 0 {
				fenced := effect()
				h[i].Copies.Fenced = &fenced
			}
		}
	}
	return h
}

// countless is how many layers need a count that the history does not have.
func countless(ix *history.Index) int {
	if len(ix.Counts) > 0 {
		return 0
	}
	return 1
}
