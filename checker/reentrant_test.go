package checker

import (
	"testing"

	"github.com/lockbench/lockbench"
)

// TestReentrant: a holder may take its lock again, and nobody else may.
func TestReentrant(t *testing.T) {
	take := func(client, id string, call, ret lockbench.Instant) lockbench.History {
		return both(lockbench.OpAcquire, client, id, call, ret)
	}
	give := func(client, id string, call, ret lockbench.Instant) lockbench.History {
		return both(lockbench.OpRelease, client, id, call, ret)
	}
	join := func(parts ...lockbench.History) (h lockbench.History) {
		for _, p := range parts {
			h = append(h, p...)
		}
		return h
	}
	for _, c := range []struct {
		name      string
		h         lockbench.History
		reentrant bool
		want      lockbench.Verdict
	}{
		{"again and back", join(take("a", "1", 1, 2), take("a", "2", 3, 4), give("a", "2", 5, 6), give("a", "1", 7, 8), take("b", "3", 9, 10)), true, lockbench.Valid},
		{"a lock that is not reentrant", join(take("a", "1", 1, 2), take("a", "2", 3, 4), give("a", "2", 5, 6), give("a", "1", 7, 8)), false, lockbench.Invalid},
		{"another client within", join(take("a", "1", 1, 2), take("a", "2", 3, 4), give("a", "2", 5, 6), take("b", "3", 6, 7), give("a", "1", 8, 9)), true, lockbench.Invalid},
		{"the inner one outlives the outer", join(take("a", "1", 1, 2), take("a", "2", 3, 4), give("a", "1", 5, 6), give("a", "2", 7, 8)), true, lockbench.Valid},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := judge(lockbench.Plan{Algorithm: "x", Traits: lockbench.Traits{Reentrant: c.reentrant}}, c.h)
			if got := res.Layers[0]; got.Verdict != c.want {
				t.Errorf("grant is %s (%s), want %s", got.Verdict, got.Summary, c.want)
			}
		})
	}
}

func both(op, client, id string, call, ret lockbench.Instant) lockbench.History {
	ev := lockbench.Event{At: call, Kind: lockbench.KindCall, Op: op, Client: client, Lock: "L", ID: id}
	end := ev
	end.At, end.Kind, end.Result = ret, lockbench.KindReturn, lockbench.OK
	return lockbench.History{ev, end}
}
