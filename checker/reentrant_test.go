package checker

import (
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// TestReentrant: a holder may take its lock again, and nobody else may.
func TestReentrant(t *testing.T) {
	take := func(client, id string, call, ret lb.Instant) history.Events {
		return both(history.OpAcquire, client, id, call, ret)
	}
	give := func(client, id string, call, ret lb.Instant) history.Events {
		return both(history.OpRelease, client, id, call, ret)
	}
	join := func(parts ...history.Events) (h history.Events) {
		for _, p := range parts {
			h = append(h, p...)
		}
		return h
	}
	for _, c := range []struct {
		name      string
		h         history.Events
		reentrant bool
		want      Verdict
	}{
		{"again and back", join(take("a", "1", 1, 2), take("a", "2", 3, 4), give("a", "2", 5, 6), give("a", "1", 7, 8), take("b", "3", 9, 10)), true, Valid},
		{"a lock that is not reentrant", join(take("a", "1", 1, 2), take("a", "2", 3, 4), give("a", "2", 5, 6), give("a", "1", 7, 8)), false, Invalid},
		{"another client within", join(take("a", "1", 1, 2), take("a", "2", 3, 4), give("a", "2", 5, 6), take("b", "3", 6, 7), give("a", "1", 8, 9)), true, Invalid},
		{"the inner one outlives the outer", join(take("a", "1", 1, 2), take("a", "2", 3, 4), give("a", "1", 5, 6), give("a", "2", 7, 8)), true, Valid},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := judge(history.Plan{Algorithm: "x", Traits: lb.Traits{Reentrant: c.reentrant}}, c.h)
			if got := res.Layers[0]; got.Verdict != c.want {
				t.Errorf("grant is %s (%s), want %s", got.Verdict, got.Summary, c.want)
			}
		})
	}
}

func both(op, client, id string, call, ret lb.Instant) history.Events {
	ev := history.Event{At: call, Kind: history.KindCall, Op: op, Client: client, Lock: "L", ID: id}
	end := ev
	end.At, end.Kind, end.Result = ret, history.KindReturn, lb.AnswerOK
	return history.Events{ev, end}
}
