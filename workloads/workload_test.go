package workloads

import (
	"slices"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// TestExpected: the work may know better than the lock, but not about a lock that gets
// stuck.
func TestExpected(t *testing.T) {
	lock := lb.Info{Traits: lb.Traits{Leased: true}, Expect: []lb.Expectation{
		{Fault: "kill", Outcomes: []lb.Outcome{lb.Stuck}},
		{Fault: "pause", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.Overstay},
		{Fault: "none", Outcomes: []lb.Outcome{lb.Safe}},
		{Fault: "cut", Outcomes: []lb.Outcome{lb.Safe}},
	}}
	for _, tt := range []struct {
		of    Workload
		fault string
		want  []lb.Outcome
	}{
		{Counter{}, "pause", []lb.Outcome{lb.Broken}},
		{Counter{}, "flood", nil},
		{Once{Key: true}, "pause", []lb.Outcome{lb.Safe}},
		{Once{Key: true}, "flood", []lb.Outcome{lb.Safe}},
		{Once{Key: true}, "kill", []lb.Outcome{lb.Stuck}},
		{Impatient{}, "pause", []lb.Outcome{lb.Broken, lb.Safe}},
		{Impatient{}, "none", []lb.Outcome{lb.Safe}},
		{Impatient{}, "flood", nil},
		{Transfer{}, "cut", []lb.Outcome{lb.Safe, lb.Check}},
		{Transfer{}, "none", []lb.Outcome{lb.Safe}},
		{Transfer{}, "pause", []lb.Outcome{lb.Broken}},
		{Counter{}, "cut", []lb.Outcome{lb.Safe}},
		{Counter{CAS: true}, "pause", []lb.Outcome{lb.Safe}},
		{Reentrant{}, "none", []lb.Outcome{lb.Stuck, lb.Broken}},
		{NeverReleases{}, "none", []lb.Outcome{lb.Safe}},
	} {
		var got []lb.Outcome
		if e := tt.of.Info().Expected(lock, tt.fault); e != nil {
			got = e.Outcomes
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s under %s: %v, want %v", tt.of.Info().Name, tt.fault, got, tt.want)
		}
	}
	lock.Traits.Renewing = true
	if e := (Transfer{}).Info().Expected(lock, "cut"); len(e.Outcomes) != 1 {
		t.Errorf("a lease that is renewed does not end: %+v", e)
	}
	if e := (NeverReleases{}).Info().Expected(lock, "none"); !slices.Equal(e.Outcomes, []lb.Outcome{lb.Stuck}) {
		t.Errorf("a lock that is renewed stays taken when it is forgotten: %+v", e)
	}
	if e := (NeverReleases{}).Info().Expected(lock, "cut"); !slices.Equal(e.Outcomes, []lb.Outcome{lb.Safe, lb.Stuck}) {
		t.Errorf("forgotten, under a fault: %+v", e)
	}
	lock.Traits.Reentrant = true
	if e := (Reentrant{}).Info().Expected(lock, "none"); !slices.Equal(e.Outcomes, []lb.Outcome{lb.Safe}) {
		t.Errorf("a reentrant lock does not wait for itself: %+v", e)
	}
	if e := lock.Expected("pause"); len(e.Outcomes) != 1 {
		t.Errorf("the lock's own expectation is changed: %+v", e)
	}
}

// TestAvailable: a lock without the mode that the work is about has nothing to do.
func TestAvailable(t *testing.T) {
	plain, shared := lb.Info{Name: "plain"}, lb.Info{Traits: lb.Traits{Shared: true}}
	for _, w := range All() {
		i := w.Info()
		if (i.Available(plain) == nil) != (i.Needs == lb.Traits{}) || i.Needs.Shared && i.Available(shared) != nil {
			t.Errorf("%s: %v, %v", i.Name, i.Available(plain), i.Available(shared))
		}
		if i.Steps[0] != StepGranted || i.Steps[1] != StepBegun || !slices.Contains(i.Steps, StepWork) {
			t.Errorf("%s passes %v", i.Name, i.Steps)
		}
	}
	if got := (Info{Leases: 3}).AtLeast(time.Second); got != 5*time.Second {
		t.Errorf("at least %v", got)
	}
}
