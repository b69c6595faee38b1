package checker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

func watch(o *Online, h history.Events) (found []Finding) {
	for i := range h {
		if f := o.Event(&h[i]); f != nil {
			found = append(found, *f)
		}
	}
	return found
}

func TestOnline(t *testing.T) {
	type plan = history.Plan
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
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 60, 0).release("w1.c0", "a", 60, 61, lb.AnswerOK).end(70), quiet},
		{"released in time, told within the slack", Online{Slack: 5 * time.Millisecond},
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 60, 0).release("w1.c0", "a", 58, 61, lb.AnswerOK).end(70), quiet},
		{"released too late", Online{Slack: 5 * time.Millisecond},
			tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w2.c0", "b", 2, 60, 0).release("w1.c0", "a", 61, 62, lb.AnswerOK).end(70), "w2.c0"},
		{"the same client", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 0).granted("w1.c0", "b", 2, 60, 0).end(70), quiet},
		{"two readers", Online{}, tell(plan{}).shared("w1.c0", "a", 0, 1).shared("w2.c0", "b", 2, 3).end(9), quiet},
		{"a reader and a writer", Online{}, tell(plan{}).shared("w1.c0", "a", 0, 1).granted("w2.c0", "b", 2, 3, 0).end(9), "w2.c0"},
		{"an update that was lost", Online{}, lostUpdate(), "w1.c0 wrote 1 over 1 at 0.112 s: it had read 0, and its lease had ended at 0.100 s"},
		{"an update that was lost after its writer had learned that its lock was", Online{}, lostUpdate(history.Event{At: at(50), Kind: history.KindLost}),
			"it had read 0, and it had learned at 0.050 s that its lock was lost"},
		{"an update that was lost under a lease that was renewed", Online{}, lostUpdate(history.Event{At: at(50), Kind: history.KindRenew, Until: at(101)}),
			"it had read 0, and its lease had ended at 0.101 s"},
		{"an update that was lost, a moment after the lease", Online{Slack: 12 * time.Millisecond}, lostUpdate(), "it had read 0$"},
		{"an update that was lost while a fault was in force", Online{}, lostUpdate(history.Event{At: at(40), Kind: history.KindFault, Name: "old", Phase: history.PhaseStrike},
			history.Event{At: at(41), Kind: history.KindFault, Name: "old", Phase: history.PhaseHealed, Note: "measured"},
			history.Event{At: at(45), Kind: history.KindFault, Name: "new", Phase: history.PhaseStrike}),
			"its lease had ended at 0.100 s; old was in force from 0.040 s to 0.041 s (measured); new was in force from 0.045 s to the end"},
		{"a lease that is renewed late, when somebody else has one", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 101, 300).
			renew("w1.c0", "a", 150, 200).end(400), "w1.c0 was granted the lock at 0.150 s while w2.c0 held it since 0.101 s"},
		{"a lease that is renewed late, when nobody else has one any more", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 100).granted("w2.c0", "b", 2, 101, 300).
			release("w2.c0", "b", 149, 150, lb.AnswerOK).renew("w1.c0", "a", 150, 200).end(400), quiet},
		{"a stale write that its writer's own look kept back", Online{}, lostUpdate().harmless(), quiet},
		{"another lock", Online{}, tell(plan{}).granted("w1.c0", "a", 0, 1, 0).
			acquire("w2.c0", "b", 2, 3, history.Event{Lock: "m"}).end(9), quiet},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.story.events = slices.Insert(tt.story.events, 0, history.Event{At: at(0), Kind: history.KindStep})
			var said string
			if found := watch(&tt.online, tt.story.events); len(found) > 0 {
				if said = found[0].Sentence; found[0].Layer == LayerBelief && !found[0].Confirmed {
					t.Errorf("not confirmed: %+v", found[0])
				}
			}
			if (said == "") != (tt.want == quiet) || !strings.Contains(said+"$", tt.want) {
				t.Errorf("reported %q, want %q", said, tt.want)
			}
		})
	}
}

// lostUpdate is a holder that overstays, and writes over what the next one wrote.
func lostUpdate(before ...history.Event) *story {
	s := tell(history.Plan{}).granted("w1.c0", "a", 0, 1, 100)
	old := s.read(2, "w1.c0", "a")
	for _, e := range before {
		if e.Kind != history.KindFault {
			e.Client, e.Lock, e.ID = "w1.c0", "l", "a"
		}
		s.events = append(s.events, e)
	}
	s.granted("w2.c0", "b", 2, 101, 200)
	s.write(111, "w2.c0", "b", s.read(110, "w2.c0", "b"), landed, 0)
	return s.write(112, "w1.c0", "a", old, landed, 0).end(300)
}

// harmless takes back that the last write landed.
func (s *story) harmless() *story {
	c := s.events[len(s.events)-2].Copies
	c.Plain.Result, c.Plain.New = history.Skipped, 0
	return s
}

// TestOnlineTellsOverstays: one that lost an update ends a run, too.
func TestOnlineTellsOverstays(t *testing.T) {
	found := watch(&Online{}, late(history.Plan{}, landed, 0).events)
	if len(found) != 1 || found[0].Mechanism != lb.Overstay || found[0].Layer != LayerStore {
		t.Errorf("%+v", found)
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
		h = append(h, history.Event{At: h[len(h)-1].At + 1, Kind: history.KindEnd})
		found := watch(&Online{}, h)
		res := judge(history.Plan{}, h)
		clash := layerOf(res, LayerBelief).Verdict == Invalid
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
	granted := map[int32]lb.Instant{}
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
		if h[i].Kind == history.KindReturn && h[i].Op == history.OpAcquire {
			h[i].Until = h[i].At + 1000
		}
	}
	var o Online
	b.ReportAllocs()
	i, shift := 0, lb.Instant(0)
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
