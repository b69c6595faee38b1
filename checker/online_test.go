package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench"
)

func watch(o *Online, h lockbench.History) (found []lockbench.Finding) {
	for i := range h {
		if f := o.Event(&h[i]); f != nil {
			found = append(found, *f)
		}
	}
	return found
}

func TestOnline(t *testing.T) {
	type plan = lockbench.Plan
	const quiet = ""
	tests := []struct {
		name   string
		online Online
		story  *story
		want   string
	}{
		{"one after the other", Online{}, tell(plan{}).busy(10, 12), quiet},
		{"within the lease", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 99, 200).end(300),
			"w2.c0 was granted the lock at 0.099 s while w1.c0 held it since 0.001 s, by its lease until 0.100 s"},
		{"after the lease", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 100, 200).end(300), quiet},
		{"no lease", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 5000, 0).end(6000), "at 5.000 s while w1.c0"},
		{"renewed", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 100).renew("w1.c0", "a", 50, 300).granted("w2.c0", "b", 2, 200, 400).end(500), "until 0.300 s"},
		{"lost", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 0).lost("w1.c0", "a", 50).granted("w2.c0", "b", 2, 60, 0).end(70), quiet},
		{"its process died", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 0).dead("w1", 50).granted("w2.c0", "b", 2, 60, 0).end(70), quiet},
		{"another process died", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 0).dead("w10", 50).granted("w2.c0", "b", 2, 60, 0).end(70), "w2.c0"},
		{"released at the same instant, told later", Online{},
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 60, 0).release("w1.c0", "a", 60, 61, lockbench.OK).end(70), quiet},
		{"released in time, told within the slack", Online{Slack: 5 * time.Millisecond},
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 60, 0).release("w1.c0", "a", 58, 61, lockbench.OK).end(70), quiet},
		{"released too late", Online{Slack: 5 * time.Millisecond},
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 60, 0).release("w1.c0", "a", 61, 62, lockbench.OK).end(70), "w2.c0"},
		{"the same client", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w1.c0", "b", 2, 60, 0).end(70), quiet},
		{"two readers", Online{}, tell(plan{}).shared("w1.c0", "a", 0, 1).shared("w2.c0", "b", 2, 3).end(9), quiet},
		{"a reader and a writer", Online{}, tell(plan{}).shared("w1.c0", "a", 0, 1).granted("w2.c0", "b", 2, 3, 0).end(9), "w2.c0"},
		{"another lock", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 0).
			acquire("w2.c0", "b", 2, 3, lockbench.Event{Lock: "m"}).end(9), quiet},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.story.events = slices.Insert(tt.story.events, 0, lockbench.Event{At: at(0), Kind: lockbench.KindStep})
			var said string
			if found := watch(&tt.online, tt.story.events); len(found) > 0 {
				if said = found[0].Sentence; !found[0].Confirmed {
					t.Errorf("not confirmed: %+v", found[0])
				}
			}
			if (said == "") != (tt.want == quiet) || !strings.Contains(said, tt.want) {
				t.Errorf("reported %q, want %q", said, tt.want)
			}
		})
	}
}

// TestOnlineAgreesWithCheck: what is reported online is what the belief layer finds.
func TestOnlineAgreesWithCheck(t *testing.T) {
	reported, illegal := 0, 0
	for seed := range uint64(20_000) {
		ops := randomOps(rand.New(rand.NewPCG(seed, 1)))
		if releasedBeforeGranted(ops) {
			continue // no client does that: it would have to guess
		}
		h := eventsOf(ops, ownOrForeign)
		h = append(h, lockbench.Event{At: h[len(h)-1].At + 1, Kind: lockbench.KindEnd})
		found := watch(&Online{}, h)
		res := judge(lockbench.Plan{}, h)
		clash := layerOf(res, LayerBelief).Verdict == lockbench.Invalid
		if len(found) > 0 {
			reported++
			if !clash || !found[0].Confirmed {
				t.Fatalf("seed %d: %+v, but %+v", seed, found, res.Layers[1])
			}
		}
		if clash {
			illegal++
		}
		if clash != (len(found) > 0) {
			t.Fatalf("seed %d: online %+v, belief %+v\n%+v", seed, found, layerOf(res, LayerBelief), h)
		}
	}
	t.Logf("%d reported of %d", reported, illegal)
	if reported < 2000 {
		t.Errorf("only %d of 20,000 histories are illegal: the generator is lopsided", reported)
	}
}

// ownOrForeign is the client of an operation: of a release that does not follow its
// acquire it is somebody else.
func ownOrForeign(i int, op Op) string {
	if op.Kind == Release && !op.After {
		return fmt.Sprintf("r.%d", i)
	}
	return fmt.Sprintf("w.c%d", op.ID)
}

func releasedBeforeGranted(ops []Op) bool {
	granted := map[int32]lockbench.Instant{}
	for _, op := range ops {
		if op.Kind == Acquire {
			granted[op.ID] = op.Return
		}
	}
	return slices.ContainsFunc(ops, func(op Op) bool {
		t, ok := granted[op.ID]
		return op.Kind == Release && ok && t < Forever && op.Call < t
	})
}

// BenchmarkOnline is the cost of one event of a saturated lock with leases.
func BenchmarkOnline(b *testing.B) {
	h := eventsOf(saturated(1e5), oneOf64)
	span := h[len(h)-1].At + 100
	for i := range h {
		if h[i].Kind == lockbench.KindReturn && h[i].Op == lockbench.OpAcquire {
			h[i].Until = h[i].At + 1000
		}
	}
	var o Online
	b.ReportAllocs()
	i, shift := 0, lockbench.Instant(0)
	for b.Loop() {
		ev := &h[i]
		ev.At += shift
		if ev.Until > 0 {
			ev.Until += shift
		}
		if f := o.Event(ev); f != nil {
			b.Fatal(f.Sentence)
		}
		if i++; i == len(h) {
			i, shift = 0, span
		}
	}
}
