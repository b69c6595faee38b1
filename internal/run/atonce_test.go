package run_test

import (
	"testing"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
)

// TestFaultsAtOnce: a holder is frozen while the server is slow. Each has its own acts, its
// own heal and its own proof, though both are in force. The one must leave the other somebody
// to strike: under out-of-memory nobody holds the lock.
func TestFaultsAtOnce(t *testing.T) {
	t.Parallel()
	_, ix, err := do(t, setpx, "pause-holder,slow-server,client-clock", counter, func(p *history.Plan) { p.FaultsAtOnce = 3 })
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*history.Fault{}
	for i := range ix.Faults {
		found[ix.Faults[i].Name] = &ix.Faults[i]
	}
	for _, name := range []string{"pause-holder", "slow-server", "client-clock"} {
		if f := found[name]; f == nil || !f.Struck || !f.Proven || f.Healed == history.Forever {
			t.Fatalf("%s: %+v of %+v", name, f, ix.Faults)
		}
	}
	if p, o := found["pause-holder"], found["slow-server"]; len(ix.Faults) != 3 || p.Span().From > o.Span().To || o.Span().From > p.Span().To {
		t.Errorf("not at once: %+v, %+v", p, o)
	}
	of := map[string]string{"freeze": "pause-holder", "move clock": "client-clock", "throttle": "slow-server"}
	for _, a := range ix.Acts {
		if want := of[a.Name]; want != "" && a.Fault != want || a.End == history.Forever || a.Fault == "" {
			t.Errorf("%+v", a)
		}
		if f := found[a.Fault]; f != nil && (a.Begin < f.Strike || a.End > f.Healed) {
			t.Errorf("%+v is no part of %+v", a, f)
		}
	}
}

// TestRandomAtOnce: what must not meet does not, on a real server.
func TestRandomAtOnce(t *testing.T) {
	t.Parallel()
	_, ix, err := do(t, setpx, "random", counter, func(p *history.Plan) { p.FaultsAtOnce, p.TTL, p.Duration = 2, time.Second, 15*time.Second })
	if err != nil {
		t.Fatal(err)
	}
	byName := func(name string) faults.Fault {
		f, err := things().Fault(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	together := 0
	for i := range ix.Faults {
		for k := range i {
			a, b := &ix.Faults[k], &ix.Faults[i]
			if !a.Struck || !b.Struck || a.Healed <= b.Strike || b.Healed <= a.Strike {
				continue
			}
			together++
			if byName(a.Name).Clashes(byName(b.Name)) {
				t.Errorf("%s and %s were in force together", a.Name, b.Name)
			}
		}
	}
	if together == 0 {
		t.Errorf("of %d faults no two were in force together", len(ix.Faults))
	}
}
