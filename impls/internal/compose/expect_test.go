package compose

import (
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
)

// TestExcept replaces by fault, adds what is new, and leaves its base alone.
func TestExcept(t *testing.T) {
	base := Lease()
	all := Except(base, lb.Expectation{Fault: "kill-holder", Outcomes: []lb.Outcome{lb.Stuck}}, lb.Expectation{Fault: "new"})
	if len(all) != len(base)+1 {
		t.Errorf("%d expectations of %d", len(all), len(base))
	}
	info := lb.Info{Expect: all}
	if e := info.Expected("kill-holder"); e.Outcomes[0] != lb.Stuck {
		t.Errorf("kill-holder: %+v", e)
	}
	if e := info.Expected("none"); e.Outcomes[0] != lb.Safe {
		t.Errorf("none: %+v", e)
	}
	if e := (lb.Info{Expect: base}).Expected("kill-holder"); e.Outcomes[0] != lb.Safe {
		t.Errorf("the base has changed: %+v", e)
	}
}

// TestClocks: what a moved clock of the server does is as bad as the lock's care allows.
func TestClocks(t *testing.T) {
	for name, c := range map[string]struct {
		of     []lb.Expectation
		want   []lb.Outcome
		reason string
	}{
		"plain":          {OnWallClock(Lease()), []lb.Outcome{lb.Broken}, lb.DoubleGrant},
		"fenced":         {OnWallClock(FencedLease()), []lb.Outcome{lb.Fence}, lb.DoubleGrant},
		"renewed":        {RenewedOnWallClock(Lease()), []lb.Outcome{lb.Broken, lb.Check}, ""},
		"fenced renewed": {RenewedOnWallClock(FencedLease()), []lb.Outcome{lb.Fence, lb.Check}, ""},
		"monotonic":      {OnMonotonicClock(Lease(), "etcd"), []lb.Outcome{lb.Safe}, ""},
	} {
		for _, fault := range []string{"server-clock", "server-clock:drift"} {
			e := lb.Info{Expect: c.of}.Expected(fault)
			if e == nil || !slices.Equal(e.Outcomes, c.want) || e.Reason != c.reason {
				t.Errorf("%s, %s: %+v", name, fault, e)
			}
		}
		drift := (lb.Info{Expect: c.of}).Expected("client-clock:drift")
		switch {
		case name == "monotonic" != (drift == nil):
			t.Errorf("%s, client-clock:drift: %+v", name, drift)
		case drift != nil && strings.HasSuffix(name, "renewed") != (drift.Outcomes[0] == lb.Safe):
			t.Errorf("%s, client-clock:drift: %+v", name, drift)
		}
		if e := (lb.Info{Expect: c.of}).Expected("pause-holder"); e.Reason != lb.Overstay || len(e.Outcomes) != 1 {
			t.Errorf("%s: a clock changes pause-holder to %+v", name, e)
		}
	}
}
