package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/lab"
)

// local is where every fault can strike.
var local = faults.Setting{Lab: lab.Local()}

// inForce are the faults that are in force, and what was seen of them.
type inForce struct {
	mu    sync.Mutex
	now   []string
	order []string
	most  int
	met   map[string]bool // pairs
}

// fault is one that is in force for so long, and does nothing else.
func (i *inForce) fault(name string, of faults.Family, lasts time.Duration) faults.Fault {
	return faults.Fault{Name: name, Family: of, Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
		i.mu.Lock()
		for _, other := range i.now {
			i.met[other+" "+name], i.met[name+" "+other] = true, true
		}
		i.now, i.order = append(i.now, name), append(i.order, name)
		i.most = max(i.most, len(i.now))
		i.mu.Unlock()
		defer func() {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.now = slices.DeleteFunc(i.now, func(n string) bool { return n == name })
		}()
		return nil, on.Sleep(ctx, lasts)
	}}
}

// someStrikes has the mix strike for a minute, so many at once.
func someStrikes(t *testing.T, atOnce int, repeats bool, mix func(*inForce) []faults.Fault) (*inForce, error) {
	t.Helper()
	seen := &inForce{met: map[string]bool{}}
	var err error
	synctest.Test(t, func(t *testing.T) {
		s := &stage{tell: func(string) {}, record: func(history.Event) {}, setting: local, plan: history.Plan{TTL: time.Second, Seed: 7, FaultsAtOnce: atOnce}}
		start := time.Now()
		err = s.strikes(t.Context(), faults.Fault{Name: "mix", Repeats: repeats, Mix: mix(seen)}, func() bool { return repeats && time.Since(start) > time.Minute })
	})
	return seen, err
}

func fourFaults(i *inForce) []faults.Fault {
	return []faults.Fault{i.fault("pause", faults.Clients, 3*time.Second), i.fault("kill", faults.Servers, 5*time.Second),
		i.fault("restart", faults.Servers, time.Second), i.fault("clock", faults.Clocks, 2*time.Second)}
}

// TestAtOnce: as many as may be are in force at a time, and never two that strike the same.
func TestAtOnce(t *testing.T) {
	for atOnce, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 3, 4: 3} {
		seen, err := someStrikes(t, atOnce, true, fourFaults)
		if err != nil || seen.most != want {
			t.Errorf("%d at once: up to %d were in force, want %d; %v", atOnce, seen.most, want, err)
		}
		if seen.met["kill restart"] || seen.met["kill kill"] {
			t.Errorf("%d at once: two that strike the servers were in force together", atOnce)
		}
	}
}

// TestOrderOfSeed: which faults strike, and in which order, is the seed's; each can meet the
// one before it where two may be in force.
func TestOrderOfSeed(t *testing.T) {
	drawn := func(seed uint64, atOnce int) (all []faults.Fault) {
		s := &stage{setting: local, plan: history.Plan{Seed: seed, TTL: time.Second, FaultsAtOnce: atOnce}}
		for f := range s.order(faults.Fault{Repeats: true, Mix: fourFaults(&inForce{})}) {
			if all = append(all, f); len(all) == 50 {
				break
			}
		}
		return all
	}
	names := func(all []faults.Fault) (s string) {
		for _, f := range all {
			s += " " + f.Name
		}
		return s
	}
	one, again, other := names(drawn(1, 1)), names(drawn(1, 1)), names(drawn(2, 1))
	if one != again || one == other {
		t.Errorf("seed 1: %s, again: %s, seed 2: %s", one, again, other)
	}
	meet := func(all []faults.Fault) bool {
		for i := range all[1:] {
			if all[i].Clashes(all[i+1]) {
				return false
			}
		}
		return true
	}
	if meet(drawn(1, 1)) || !meet(drawn(1, 2)) {
		t.Errorf("one at a time: %s, two: %s", names(drawn(1, 1)), names(drawn(1, 2)))
	}
}

// TestList: the faults of a list strike in its order, each once.
func TestList(t *testing.T) {
	want := []string{"pause", "kill", "restart", "clock"}
	seen, err := someStrikes(t, 1, false, fourFaults)
	if err != nil || !slices.Equal(seen.order, want) || seen.most != 1 {
		t.Errorf("%v struck, %d at once, %v", seen.order, seen.most, err)
	}
	seen, err = someStrikes(t, 2, false, fourFaults)
	if slices.Sort(seen.order); err != nil || !slices.Equal(seen.order, slices.Sorted(slices.Values(want))) || seen.most != 2 {
		t.Errorf("%v struck, %d at once, %v", seen.order, seen.most, err)
	}
}

// TestOneOfTwoFails: the other ends with it, and the error is that of the one.
func TestOneOfTwoFails(t *testing.T) {
	start := time.Now()
	seen, err := someStrikes(t, 2, false, func(i *inForce) []faults.Fault {
		bad := faults.Fault{Name: "bad", Family: faults.Servers, Inject: func(context.Context, faults.Strike) (faults.Proof, error) {
			return nil, errors.New("no such server")
		}}
		return []faults.Fault{i.fault("long", faults.Clients, time.Hour), bad, i.fault("next", faults.Clocks, time.Second)}
	})
	if err == nil || !strings.Contains(err.Error(), "the fault bad failed: no such server") || strings.Contains(err.Error(), "canceled") {
		t.Error(err)
	}
	if !slices.Equal(seen.order, []string{"long"}) || time.Since(start) > time.Minute {
		t.Errorf("%v struck", seen.order)
	}
}
