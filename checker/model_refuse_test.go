package checker_test

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestRefusals damages histories that make sense, and compares what the reader
// refuses with what docs/history.md says that it should.
func TestRefusals(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(2000))
	const n = 200_000
	var next, taken, refused, wrong atomic.Uint64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for seed := next.Add(1); seed <= n && wrong.Load() < 10; seed = next.Add(1) {
				h := damaged(seed)
				err, want := refuses(h)
				if want == nil {
					taken.Add(1)
				} else {
					refused.Add(1)
				}
				if (err == nil) != (want == nil) {
					wrong.Add(1)
					h = smaller(h)
					err, want = refuses(h)
					t.Errorf("seed %d: the reader says %v, the model %v\n%s", seed, err, want, shorthand.String(h))
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d taken, %d refused", taken.Load(), refused.Load())
	if 4*min(taken.Load(), refused.Load()) < n && wrong.Load() == 0 {
		t.Error("lopsided")
	}
}

func refuses(h history.Events) (reader, model error) {
	_, reader = history.Of(h)
	return reader, wellFormed(h)
}

// smaller leaves out events, as long as the two still disagree in the same way.
func smaller(h history.Events) history.Events {
	taken, _ := refuses(h)
	for i := len(h) - 1; i >= 0; i-- {
		less := slices.Concat(h[:i], h[i+1:])
		if err, want := refuses(less); (err == nil) != (want == nil) && (err == nil) == (taken == nil) {
			h, i = less, len(less)
		}
	}
	return h
}

// damaged is a history that made sense, with an edit or two.
func damaged(seed uint64) history.Events {
	h := makeSample(seed).events
	r := rand.New(rand.NewPCG(seed, 0x656469746f72))
	for range 1 + r.IntN(2) {
		if len(h) > 0 {
			h = edit(r, h)
		}
	}
	return h
}

func edit(r *rand.Rand, h history.Events) history.Events {
	i := r.IntN(len(h))
	ev, other := &h[i], h[r.IntN(len(h))]
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	switch r.IntN(24) {
	case 0:
		return slices.Delete(h, i, i+1)
	case 1:
		return slices.Insert(h, r.IntN(len(h)+1), *ev)
	case 2:
		twin := *ev
		twin.At += lb.Instant(r.IntN(3))
		return append(h, twin)
	case 3:
		ev.Client = pick(other.Client, "w9.X", ev.Client)
	case 4:
		ev.ID = pick(other.ID, "q")
	case 5:
		ev.Lock = pick(other.Lock, "l", "n")
	case 6:
		ev.Op = pick(history.OpAcquire, history.OpRelease, other.Op, "lock")
	case 7:
		ev.Kind = other.Kind
	case 8:
		ev.Kind = history.Kind(pick("pause", "read", "lost", "call", "wake", "act", "failed", "end"))
	case 9:
		ev.At = []lb.Instant{-1, 1<<62 + 1, 1 << 62, 0}[r.IntN(4)]
	case 10:
		ev.At, h[(i+1)%len(h)].At = h[(i+1)%len(h)].At, ev.At
	case 11:
		ev.At = other.At
	case 12:
		if ev.Seq != 0 {
			ev.Seq = max(other.Seq, uint64(r.IntN(3)))
		}
	case 13:
		if ev.Kind == history.KindRenew || ev.Kind == history.KindSilent {
			ev.Call = ev.At + lb.Instant(r.IntN(3)-1)
		}
	case 14:
		return append(h, history.Event{At: other.At, Kind: history.KindEnd})
	case 15:
		return slices.Insert(h, i, history.Event{At: other.At, Kind: history.KindDead, Worker: pick("w1", "w2", "w3")})
	case 16:
		if ev.Kind == history.KindCall {
			ev.Worker = pick("w1", "w2", "")
		}
	case 17:
		if ev.Kind == history.KindReturn {
			ev.Result = lb.Answer(r.IntN(7))
		}
	case 18:
		if ev.Kind == history.KindFault || ev.Kind == history.KindAct {
			ev.Phase = pick("strike", "heal", "healed", "begin", "end", "over", "")
		}
	case 19:
		if ev.Copies != nil {
			c := *ev.Copies
			c.Checked.Result = history.Decision(r.IntN(5))
			ev.Copies = &c
		}
	case 20:
		forget(ev, r.IntN(11))
	case 21:
		if ev.Until != 0 {
			ev.Until = []lb.Instant{-1, 0, 1, 1 << 62}[r.IntN(4)]
		}
	case 22:
		ev.ID, ev.Lock = other.ID, other.Lock
	case 23:
		h[i], h[len(h)-1] = h[len(h)-1], h[i]
	}
	return h
}

// forget leaves out a field.
func forget(ev *history.Event, field int) {
	texts := []*string{&ev.Client, &ev.Lock, &ev.ID, &ev.Name, &ev.Phase, &ev.Worker, &ev.Op, &ev.Target}
	switch {
	case field < len(texts):
		*texts[field] = ""
	case field == len(texts):
		ev.Copies = nil
	case field == len(texts)+1:
		ev.Seq = 0
	default:
		ev.Call = 0
	}
}
