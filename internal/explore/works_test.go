package explore_test

import (
	"context"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
)

// scripts are those by which a client takes a lock and gives it back: ARGV is who it is, and the
// lease.
type scripts struct{ enter, leave string }

func (w scripts) small(name, work string, traits lb.Traits, shared scripts) small {
	of := func(req lb.Request) scripts {
		if req.Shared {
			return shared
		}
		return w
	}
	return small{name: "small-" + name, work: work, requests: []string{"enter", "leave"}, traits: traits,
		acquire: func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
			call := s.env.Clock.Mono()
			n, err := s.eval(ctx, req, "enter", of(req).enter, s.env.Client, s.env.TTL.Milliseconds())
			return s.taken(req, call, n, err)
		},
		release: func(s *session, ctx context.Context, req lb.Request) error {
			return gone(s.eval(ctx, req, "leave", of(req).leave, s.env.Client))
		}}
}

// workedSmalls are locks that are used in other ways than one lock at a time: entered again, shared, two at once.
func workedSmalls() []smallCase {
	reentrant := lb.Traits{Leased: true, Reentrant: true}
	counts := scripts{
		`local owner = redis.call("HGET", KEYS[1], "owner") if owner and owner ~= ARGV[1] then return 0 end redis.call("HSET", KEYS[1], "owner", ARGV[1]) redis.call("HINCRBY", KEYS[1], "n", 1) redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1`,
		`if redis.call("HGET", KEYS[1], "owner") ~= ARGV[1] then return 0 end if redis.call("HINCRBY", KEYS[1], "n", -1) <= 0 then redis.call("DEL", KEYS[1]) end return 1`}
	givesAll := counts
	givesAll.leave = `if redis.call("HGET", KEYS[1], "owner") ~= ARGV[1] then return 0 end return redis.call("DEL", KEYS[1])`

	both := lb.Traits{Leased: true, Shared: true}
	writes := scripts{
		`if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end redis.call("HSET", KEYS[1], "writer", ARGV[1]) redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1`,
		`return redis.call("DEL", KEYS[1])`}
	reads := scripts{
		`if redis.call("HEXISTS", KEYS[1], "writer") == 1 then return 0 end redis.call("HINCRBY", KEYS[1], "readers", 1) redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1`,
		`if redis.call("HINCRBY", KEYS[1], "readers", -1) <= 0 then redis.call("DEL", KEYS[1]) end return 1`}
	intrudes, forgetsOthers := writes, reads
	intrudes.enter = strings.Replace(writes.enter, `redis.call("EXISTS", KEYS[1])`, `redis.call("HEXISTS", KEYS[1], "writer")`, 1)
	forgetsOthers.leave = `return redis.call("DEL", KEYS[1])`

	pair := small{name: "small-pair", work: "transfer", requests: []string{"set", "delete"}, traits: leased, acquire: plainSet, release: safeDelete}
	one := pair
	one.name, one.requests = "small-one-at-a-time", []string{"set", "delete", "drop"}
	one.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) { // as GET_LOCK did before MySQL 5.7.5
		for name := range s.keeps {
			if _, err := s.do(ctx, req, "drop", "DEL", name); err != nil {
				return nil, err
			}
			delete(s.keeps, name)
		}
		lease, err := s.set(ctx, req)
		if err == nil {
			s.keeps[req.Lock] = 1
		}
		return lease, err
	}
	one.release = func(s *session, ctx context.Context, req lb.Request) error {
		delete(s.keeps, req.Lock)
		return safeDelete(s, ctx, req)
	}
	twice := within(nil)
	twice.Acquisitions = 2
	return []smallCase{
		{counts.small("reentrant", "reentrant", reentrant, counts), false, true, within(nil)},
		{counts.small("reentrant", "reentrant", reentrant, counts), false, false, within(crash)},
		{givesAll.small("gives-all", "reentrant", reentrant, givesAll), true, true, within(nil)},
		{writes.small("shared", "readers", both, reads), false, true, within(nil)},
		{writes.small("shared", "readers", both, reads), false, false, within(crash)},
		{intrudes.small("intrudes", "readers", both, reads), true, true, within(nil)},
		{writes.small("forgets-others", "readers", both, forgetsOthers), true, false, twice},
		{pair, false, true, within(nil)},
		{pair, false, false, within(crash)},
		{one, true, true, within(nil)},
	}
}

// TestFits: what a lock is not made for is not walked.
func TestFits(t *testing.T) {
	plain, all := lb.Info{Name: "plain"}, lb.Info{Name: "all", Traits: lb.Traits{Reentrant: true, Shared: true}}
	for work, fits := range map[string][2]bool{"": {true, true}, "counter": {true, true}, "reentrant": {false, true}, "readers": {false, true}, "transfer": {true, true}, "tansfer": {false, false}} {
		p := explore.Plan{Workload: work}
		if got := [2]bool{p.Fits(plain) == nil, p.Fits(all) == nil}; got != fits {
			t.Errorf("%q: %v, want %v", work, got, fits)
		}
	}
	if err := (explore.Plan{Workload: "tansfer"}).Fits(plain); !strings.Contains(err.Error(), "transfer") {
		t.Errorf("%v", err)
	}
}
