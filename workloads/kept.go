package workloads

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockbench/lockbench/workloads/guard"
)

// In lets a database keep the fenced copy, and decide what lands there.
func (s *Store) In(g guard.Guard) *Store {
	s.guard = g
	return s
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
		case p.Shared || a.Once:
			return false, errors.New("workloads: a store in a database knows exclusive holders of numbers only")
		case a.Kind == writes:
			c.New = &p.New.Fenced
		}
		claims = append(claims, c)
	}
	before, ok, err := s.guard.Admit(ctx, claims)
	for i, held := range before {
		if want := s.registers[claims[i].Record].fenced.value; err == nil && held != want {
			err = fmt.Errorf("workloads: the database held %d of %q, and %d was written last", held, claims[i].Record, want)
		}
	}
	return ok, err
}
