package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/workloads/guard"
)

// In lets a database keep the fenced copy, and decide what lands there.
func (s *Store) In(g guard.Guard) *Store {
	s.guard = g
	return s
}

// databaseBound is how long the database may take for an answer.
const databaseBound = 3 * time.Second

// silent records that the store did not answer for a while, for whatever reason: who
// writes late for that has not overstayed.
func (s *Store) silent(from, to lb.Instant) {
	s.record(history.Event{At: to, Kind: history.KindSilent, Worker: history.Store, Call: from})
}

// admitted lets the database that keeps the fenced copy decide about an access, and
// wants it to hold what was written there: the record of a run is no ground truth if a
// copy is not what it says. Without a token there is nothing to decide by.
func (s *Store) admitted(ctx context.Context, a access) (bool, error) {
	var claims []guard.Claim
	for _, p := range a.Parts {
		c := guard.Claim{Record: p.Lock, Token: p.Token, First: p.First}
		switch {
		case p.Token == 0 && !p.Shared:
			return true, nil
		case p.Shared || a.Once || a.Same:
			return false, errors.New("a store in a database knows exclusive holders of numbers only")
		case a.Kind == writes:
			c.New = &p.New.Fenced
		}
		claims = append(claims, c)
	}
	ctx, cancel := context.WithTimeout(ctx, databaseBound)
	defer cancel()
	asked := clock.Now()
	before, ok, err := s.guard.Admit(ctx, claims)
	if at := clock.Now(); at.Sub(asked) > clock.Late {
		s.silent(asked, at)
	}
	for i, held := range before {
		if want := s.registers[claims[i].Record].fenced.value; err == nil && held != want {
			err = fmt.Errorf("the database held %d of %q, and %d was written last", held, claims[i].Record, want)
		}
	}
	return ok, err
}
