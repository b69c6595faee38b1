package mutants

import (
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

type lock struct {
	lb.Impl
	name string
}

func (l lock) Info() lb.Info { return lb.Info{Name: l.name} }

// saw is a result under a fault with leases of one second.
func saw(fault string, o lb.Outcome, reason string, outage time.Duration) checker.Result {
	how, _, _ := strings.Cut(reason, ":")
	if !slices.Contains(lb.Mechanisms(), how) {
		how = ""
	}
	return checker.Result{Outcome: o, Mechanism: how, Reason: reason, OutageMS: float64(outage) / 1e6,
		Plan: history.Plan{Fault: fault, TTL: time.Second}}
}

// left is a run of which nothing is told but what it left.
func left(what string) checker.Result {
	res := saw("none", lb.Safe, "", 0)
	res.Claims = []checker.Unkept{{Claim: "fair", How: "for a reason of its own"}, {Claim: checker.LayerTidy, How: what}}
	return res
}

// TestConvicts: the outcome alone does not, nor does the mechanism.
func TestConvicts(t *testing.T) {
	forgets := New(lock{name: "forgets"}, lock{name: "right"}, "cut-holder", lb.DoubleGrant, lb.Broken, lb.Fence)
	either := forgets.Or(lb.Overstay)
	sleeps := New(lock{name: "sleeps"}, lock{name: "right"}, "none", Outage, lb.Safe)
	for _, c := range []struct {
		name string
		mu   Mutant
		res  checker.Result
		want bool
	}{
		{"by its mechanism", forgets, saw("cut-holder", lb.Broken, "double grant: w1 and w2", 0), true},
		{"in another cell that convicts", forgets, saw("cut-holder", lb.Fence, "double grant: w1 and w2", 0), true},
		{"in a cell that does not", forgets, saw("cut-holder", lb.Check, "double grant: w1 and w2", 0), false},
		{"by another mechanism", forgets, saw("cut-holder", lb.Broken, "overstay: w1", 0), false},
		{"without a word", forgets, saw("cut-holder", lb.Broken, "", 0), false},
		{"by the other of two", either, saw("cut-holder", lb.Broken, "overstay: w1", 0), true},
		{"by the first of two", either, saw("cut-holder", lb.Broken, "double grant: w1 and w2", 0), true},
		{"by a third", either, saw("cut-holder", lb.Broken, "ghost: nobody", 0), false},
		{"by either in a wrong cell", either, saw("cut-holder", lb.Stuck, "overstay: w1", 0), false},
		{"by an outage of a lease", sleeps, saw("none", lb.Safe, "", 950*time.Millisecond), true},
		{"by an outage of less", sleeps, saw("none", lb.Safe, "", 850*time.Millisecond), false},
		{"by no outage known", sleeps, saw("none", lb.Safe, "", -time.Millisecond), false},
		{"by an outage that was not asked for", forgets, saw("cut-holder", lb.Broken, "", 2*time.Second), false},
		{"by what it leaves", New(lock{name: "leaves"}, lock{name: "right"}, "none", "keys at", lb.Safe), left("keys at redis1 grew"), true},
		{"by something else that it leaves", New(lock{name: "leaves"}, lock{name: "right"}, "none", "keys at", lb.Safe), left("leases at etcd1 grew"), false},
		{"by a run that proves nothing", forgets, saw("cut-holder", lb.Inconclusive, "double grant", 0), false},
	} {
		if err := c.mu.convicts(c.res); (err == nil) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestAcquits: what is no fault of a correct lock, and what is.
func TestAcquits(t *testing.T) {
	for name, c := range map[string]struct {
		res  checker.Result
		want bool
	}{
		"a lease that was outlived":       {saw("pause-holder", lb.Check, "overstay: w1", 0), true},
		"no token against that":           {saw("pause@before-write", lb.Broken, "overstay: w1", 0), true},
		"nothing":                         {saw("none", lb.Safe, "", 10*time.Millisecond), true},
		"an outage while the dead holds":  {saw("kill-holder", lb.Safe, "", 2*time.Second), true},
		"an outage for no reason":         {saw("none", lb.Safe, "", 2*time.Second), false},
		"two at once":                     {saw("cut-holder", lb.Fence, "double grant: w1 and w2", 0), false},
		"nobody":                          {saw("kill-holder", lb.Stuck, "ghost: nobody", 0), false},
		"a run that proves nothing":       {saw("none", lb.Inconclusive, "too little happened", 0), false},
		"a token that can't be trusted":   {saw("none", lb.Safe, "the tokens can't be trusted: 3 after 4", 0), false},
		"a key left with each grant":      {left("keys at redis1 grew"), false},
		"a story that mentions the other": {saw("pause-holder", lb.Check, "overstay: w1 (and no double grant)", 0), true},
	} {
		if err := acquits(c.res); (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCourt counts what it is told, on the right side.
func TestCourt(t *testing.T) {
	var c court
	for _, v := range []struct{ guilty, right bool }{{true, true}, {true, false}, {true, true}, {false, true}, {false, false}} {
		c.count(v.guilty, v.right)
	}
	if c.mutants != 3 || c.convicted != 2 || c.correct != 2 || c.acquitted != 1 {
		t.Errorf("convicted %d of %d, acquitted %d of %d", c.convicted, c.mutants, c.acquitted, c.correct)
	}
}

// TestKnown: a correct lock of which several mutants are made is there once.
func TestKnown(t *testing.T) {
	right := lock{name: "right"}
	c := known([]Mutant{New(lock{name: "a"}, right, "none", ""), New(lock{name: "b"}, right, "none", "").InCrowd(12)})
	if err := c.Check(); err != nil || len(c.Locks) != 3 {
		t.Errorf("%d locks, %v", len(c.Locks), err)
	}
}
