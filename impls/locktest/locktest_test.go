package locktest

import (
	"context"
	"sync/atomic"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/none"
)

// TestSuiteConvicts gives the suite a lock that is none and claims everything.
// Nearly every check must see it; the two that can't are about a lock that stays
// taken, which this one never does.
func TestSuiteConvicts(t *testing.T) {
	deviates := map[string]string{}
	for _, c := range checks(liar{}.Info().Traits) {
		if c.name != "crash" && c.name != "hang" {
			deviates[c.name] = "there is no lock"
		}
	}
	Run(t, liar{none.New()}, Options{Servers: []string{"127.0.0.1:1"}, RoundTrips: RoundTrips{1, 1}, Deviates: deviates})
}

// TestSuiteConvictsModesNotClaimed is the same for one that claims nothing.
func TestSuiteConvictsModesNotClaimed(t *testing.T) {
	for name, run := range map[string]func(context.Context, *bench) error{
		"shared": notShared, "reentrant": notReentrant, "expiry": leaseEnds,
	} {
		if err := run(t.Context(), &bench{impl: none.New(), lock: name}); err == nil {
			t.Errorf("%s: passes for a lock that is none", name)
		}
	}
}

// TestSuiteConvictsStuckClaim: who declares to stay stuck and does not is wrong.
func TestSuiteConvictsStuckClaim(t *testing.T) {
	if err := vanished((*party).crash)(t.Context(), &bench{impl: stuck{none.New()}, lock: "stuck"}); err == nil {
		t.Error("a lock that says that it gets stuck, and does not, passes")
	}
}

type liar struct{ lb.Impl }

func (liar) Info() lb.Info {
	return lb.Info{Name: "liar", Traits: lb.Traits{
		Fenced: true, Leased: true, Renewing: true, Push: true, Fair: true, Reentrant: true, Shared: true, LostNotice: true,
	}}
}

type stuck struct{ lb.Impl }

func (stuck) Info() lb.Info {
	return lb.Info{Name: "stuck", Expect: []lb.Expectation{{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Stuck}}}}
}

// frame is one of HTTP/2, of type and payload.
func frame(kind byte, payload int) string {
	return string([]byte{0, 0, byte(payload), kind, 0, 0, 0, 0, 1}) + string(make([]byte, payload))
}

func TestMeter(t *testing.T) {
	const headers, data, settings, ping = 1, 0, 4, 6
	call := frame(headers, 20) + frame(data, 5)
	for name, tc := range map[string]struct {
		said []string // by the client; "" stands for an answer
		want int64
	}{
		"one question":             {[]string{"GET a", ""}, 1},
		"in two pieces":            {[]string{"GE", "T a", ""}, 1},
		"two, pipelined":           {[]string{"GET a", "GET b", "", ""}, 1},
		"two, one by one":          {[]string{"GET a", "", "GET b", ""}, 2},
		"pushes are no questions":  {[]string{"SUB", "", "", ""}, 1},
		"gRPC: one call":           {[]string{string(preface) + frame(settings, 6), "", call, ""}, 1},
		"gRPC: in many pieces":     {[]string{string(preface), "", call[:3], call[3:31], call[31:], ""}, 1},
		"gRPC: pings don't count":  {[]string{string(preface), "", call, "", frame(ping, 8), "", frame(8, 4)}, 1},
		"gRPC: two calls at once":  {[]string{string(preface), "", call + call, ""}, 2},
		"gRPC: end of a stream":    {[]string{string(preface), "", call, "", frame(data, 0)}, 1},
		"gRPC: stream of messages": {[]string{string(preface), "", call, "", frame(data, 5), "", frame(data, 5)}, 3},
	} {
		var n atomic.Int64
		m := &meter{trips: &n}
		for _, s := range tc.said {
			if s == "" {
				m.answer(nil)
			} else {
				m.request([]byte(s))
			}
		}
		if n.Load() != tc.want {
			t.Errorf("%s: %d round trips, want %d", name, n.Load(), tc.want)
		}
	}
}
