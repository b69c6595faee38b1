package checker

import (
	"runtime"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestLimits: a layer that fails, never ends or would need too much is undecided
// and says why, and the others are judged all the same.
func TestLimits(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	fine := func(*run) Layer { return Layer{Verdict: Valid} }
	tests := []struct {
		bad  layer
		opts Options
		why  string
	}{
		{layer{name: "bad", judge: func(*run) Layer { panic("at the disco") }}, Options{}, "the checker itself failed: at the disco"},
		{layer{name: "bad", judge: func(r *run) Layer { return Layer{Count: int(r.Faults[len(r.Faults)].Strike)} }}, Options{}, "index out of range"},
		{layer{name: "bad", judge: func(r *run) Layer {
			r.copies = map[string]Copy{"x": {Lost: 9}}
			<-stop
			return Layer{}
		}},
			Options{Limit: 20 * time.Millisecond}, "did not come to an end within 20ms"},
		{layer{name: "bad", judge: fine, perAcquisition: 1 << 30}, Options{Memory: 1 << 30}, "about 24576 MB here and may use 1024 MB"},
		{layer{name: "bad", judge: fine, perAcquisition: 1 << 50}, Options{}, "too little memory: the bad checker needs"},
	}
	for _, tt := range tests {
		for _, first := range []bool{true, false} {
			checkers := append(layers[:len(layers):len(layers)], tt.bad)
			if first {
				checkers = append([]layer{tt.bad}, layers...)
			}
			s := tell(history.Plan{}).busy(10, 24)
			r := check(t.Context(), tt.opts, s.plan, indexed(s.events), checkers)
			if l := layerOf(r, "bad"); l.Verdict != Undecided || !strings.Contains(l.Summary, tt.why) {
				t.Errorf("got %s %q, want %q", l.Verdict, l.Summary, tt.why)
			}
			for _, l := range r.Layers {
				if l.Name != "bad" && l.Verdict != Valid && l.Name != LayerToken {
					t.Errorf("%s is %s: %s", l.Name, l.Verdict, l.Summary)
				}
			}
			if r.Outcome != lb.Inconclusive || !strings.HasPrefix(r.Reason, "bad is undecided") || r.Copies["x"].Lost != 0 {
				t.Errorf("%s %q, %v", r.Outcome, r.Reason, r.Copies)
			}
		}
	}
}

// TestTooLargeToRead: not even the index of the history fits.
func TestTooLargeToRead(t *testing.T) {
	s := tell(history.Plan{}).busy(10, 12)
	r := Options{Memory: 1000}.Check(t.Context(), s.plan, indexed(s.events))
	for _, l := range r.Layers {
		if l.Verdict != Undecided || !strings.Contains(l.Summary, "too little memory") {
			t.Errorf("%s is %s: %s", l.Name, l.Verdict, l.Summary)
		}
	}
	if r.Outcome != lb.Inconclusive {
		t.Errorf("%s %q", r.Outcome, r.Reason)
	}
}

// TestEstimates compares what the layers say they need with what they take.
func TestEstimates(t *testing.T) {
	h := eventsOf(saturated(20_000), oneOf64)
	accesses := uint64(0)
	for i := range h {
		if e := h[i]; e.Kind == history.KindReturn && e.Op == history.OpAcquire {
			h[i].Token = uint64(i + 1)
			e.Kind, e.Op, e.Seq = history.KindWrite, "", accesses+1
			effect := history.CopyEffect{Value: int64(accesses), Base: int64(accesses), New: int64(accesses + 1), Result: history.Landed}
			e.Copies = &history.CopyEffects{Plain: effect, Checked: effect}
			h, accesses = append(h, e), accesses+1
		}
	}
	ix := indexed(h)
	var r *run
	read := takes(func() { r = newRun(history.Plan{TTL: time.Second}, ix) })
	if need := int64(perAcquisition * len(ix.Acqs)); read > need || read < need/8 {
		t.Errorf("what is common takes %d bytes, said %d", read, need)
	}
	for _, l := range layers {
		took, need := takes(func() { l.judge(r) }), l.need(len(r.Acqs), len(r.Accesses))
		t.Logf("%s takes %d bytes for %d acquisitions and %d accesses, said %d", l.name, took, len(r.Acqs), len(r.Accesses), need)
		if took > need || took < need/8 && l.name != LayerTold && l.name != LayerAnswers { // most of it for clients that clash, or calls that fail
			t.Errorf("%s takes %d bytes, said %d", l.name, took, need)
		}
	}
}

// takes is how many bytes f allocates.
func takes(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
