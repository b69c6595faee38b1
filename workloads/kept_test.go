package workloads

import (
	"context"
	"errors"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/workloads/guard"
)

// serve is one access to a store in memory.
func (s *Store) serve(a access) []values {
	before, _ := s.answer(context.Background(), a)
	return before
}

// said is a database that says what it is told to.
type said struct {
	before   []int64
	admitted bool
	err      error
	asked    []guard.Claim
}

func (s *said) Admit(_ context.Context, claims []guard.Claim) ([]int64, bool, error) {
	s.asked = claims
	return s.before, s.admitted, s.err
}

func (s *said) Close() error { return nil }

// TestTheDatabaseDecides about the fenced copy, and about nothing else.
func TestTheDatabaseDecides(t *testing.T) {
	var last history.Event
	db := &said{before: []int64{0}, admitted: true}
	s := NewStore(func(ev history.Event) { last = ev }).In(db)
	write := func(base, to int64) access {
		all := func(n int64) values { return values{n, n, n} }
		return access{Kind: writes, Client: "c", Parts: []part{{Lock: "L", Token: 7, Base: all(base), New: all(to), Held: true}}}
	}
	if _, err := s.answer(t.Context(), write(0, 1)); err != nil {
		t.Fatal(err)
	}
	if c := db.asked[0]; c.Record != "L" || c.Token != 7 || c.New == nil || *c.New != 1 {
		t.Errorf("the database was asked for %+v", c)
	}
	if got := last.Copies.Fenced; got.Result != history.Landed || got.New != 1 {
		t.Errorf("fenced: %+v, want it to land", got)
	}
	db.before, db.admitted = nil, false // for a reason of its own: the token is as high as before
	if _, err := s.answer(t.Context(), write(1, 2)); err != nil {
		t.Fatal(err)
	}
	if c := last.Copies; c.Fenced.Result != history.Refused || c.Plain.Result != history.Landed {
		t.Errorf("plain %q, fenced %q: want landed and refused", c.Plain.Result, c.Fenced.Result)
	}
	seen := last.Seq
	db.before, db.admitted = []int64{5}, true
	if _, err := s.answer(t.Context(), write(2, 3)); err == nil {
		t.Error("the database holds another value than was written last, and nobody minds")
	}
	db.err = errors.New("gone")
	if _, err := s.answer(t.Context(), write(2, 3)); err == nil || last.Seq != seen {
		t.Errorf("%v, access %d: what the database did not answer is recorded as done", err, last.Seq)
	}
}
