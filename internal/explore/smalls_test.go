package explore_test

import (
	"context"
	"errors"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/explore"
	"github.com/redis/go-redis/v9"
)

// smallCase is a lock with the bounds within which all its orders are tried.
type smallCase struct {
	small
	planted bool // some order within the bounds breaks it
	often   bool // make test has it, too
	explore.Bounds
}

// within are bounds of two clients with one acquisition each.
func within(change func(*explore.Bounds)) explore.Bounds {
	b := explore.Bounds{Clients: 2, Acquisitions: 1}
	if change != nil {
		change(&b)
	}
	b.Faults = min(2, b.Expiries+b.Crashes+b.Lost+b.Quits)
	return b
}

func expiry(b *explore.Bounds) { b.Expiries = 1 }
func crash(b *explore.Bounds)  { b.Crashes = 1 }
func lost(b *explore.Bounds)   { b.Lost = 1 }
func polls(b *explore.Bounds)  { b.Polls = 1 }
func quits(b *explore.Bounds)  { b.Quits = 1 }

func rightSmalls(compareAndExpire string) []smallCase {
	right := small{name: "small-right", requests: []string{"set", "delete"}, traits: leased, acquire: plainSet, release: safeDelete}
	named := func(name string, change func(*small)) small {
		s := right
		s.name = name
		change(&s)
		return s
	}
	renews := named("small-renews", func(s *small) {
		s.requests, s.traits = []string{"set", "renew", "delete"}, lb.Traits{Leased: true, Renewing: true, LostNotice: true}
		s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
			lease, err := s.set(ctx, req)
			if err != nil {
				return nil, err
			}
			return s.renewed(lease, func(ctx context.Context) (int64, error) {
				return s.eval(ctx, req, "renew", compareAndExpire, req.Owner, s.env.TTL.Milliseconds())
			}), nil
		}
	})
	looks := named("small-looks-first", func(s *small) {
		s.requests, s.reads, s.takes = []string{"get", "set", "delete"}, []string{"get"}, "set"
		s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
			if _, err := s.do(ctx, req, "get", "GET", req.Lock); err == nil {
				return nil, lb.ErrHeld
			} else if !errors.Is(err, errRefused) {
				return nil, err
			}
			return s.set(ctx, req)
		}
	})
	fenced := named("small-fenced", func(s *small) {
		s.requests, s.traits = []string{"script", "delete"}, lb.Traits{Leased: true, Fenced: true}
		s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
			call := s.env.Clock.Mono()
			n, err := s.eval(ctx, req, "script", `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return redis.call("INCR", KEYS[2]) end return 0`, req.Owner, s.env.TTL.Milliseconds())
			if err == nil && n == 0 {
				return nil, lb.ErrHeld
			} else if err != nil {
				return nil, err
			}
			return s.env.Grant(req, uint64(n), s.env.Validity(call)), nil
		}
	})
	return []smallCase{
		{right, false, true, within(polls)},
		{right, false, false, within(expiry)},
		{right, false, false, within(lost)},
		{right, false, true, within(crash)},
		{right, false, true, within(quits)},
		{renews, false, false, within(func(b *explore.Bounds) { b.Renewals = 1 })},
		{looks, false, true, within(nil)},
		{looks, false, false, within(crash)},
		{fenced, false, false, within(expiry)},
		{fenced, false, false, within(lost)},
		{right, false, false, explore.Bounds{Clients: 3, Acquisitions: 1}},
	}
}

func wrongSmalls() []smallCase {
	wrong := small{requests: []string{"set", "del"}, traits: leased, acquire: plainSet, release: plainDelete}
	named := func(name string, change func(*small)) small {
		s := wrong
		s.name = "small-" + name
		change(&s)
		return s
	}
	// read is GET, "" for nothing.
	read := func(s *session, ctx context.Context, req lb.Request, name string) (string, error) {
		answer, err := s.do(ctx, req, name, "GET", req.Lock)
		if errors.Is(err, errRefused) {
			return "", nil
		}
		text, _ := answer.(string)
		return text, err
	}
	plain := named("plain-del", func(*small) {})
	getThenSet := func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
		call := s.env.Clock.Mono()
		if v, err := read(s, ctx, req, "get"); v != "" || err != nil {
			return nil, errors.Join(err, lb.ErrHeld)
		}
		_, err := s.do(ctx, req, "put", "SET", req.Lock, req.Owner, "PX", s.env.TTL.Milliseconds())
		return s.taken(req, call, 1, err)
	}
	twoSteps := named("get-then-set", func(s *small) {
		s.requests, s.reads, s.takes, s.acquire, s.release = []string{"get", "put", "delete"}, []string{"get"}, "put", getThenSet, safeDelete
	})
	getThenDel := named("get-then-del", func(s *small) {
		s.requests, s.reads, s.takes = []string{"set", "get", "del"}, []string{"get"}, "set"
		s.release = func(s *session, ctx context.Context, req lb.Request) error {
			v, err := read(s, ctx, req, "get")
			if err != nil {
				return err
			}
			if v != req.Owner {
				return lb.ErrLost
			}
			return gone(s.number(ctx, req, "del", "DEL", req.Lock))
		}
	})
	return []smallCase{
		{plain, true, true, within(lost)},
		{plain, true, false, within(expiry)},
		{twoSteps, true, false, within(nil)},
		{twoSteps, true, false, within(crash)},
		{getThenDel, true, false, within(expiry)},
		{named("no-expiry", func(s *small) { // a dead client's key stays
			s.requests, s.traits, s.release = []string{"setnx", "delete"}, lb.Traits{}, safeDelete
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				n, err := s.number(ctx, req, "setnx", "SETNX", req.Lock, req.Owner)
				lease, err := s.taken(req, s.env.Clock.Mono(), n, err)
				if err != nil {
					return nil, err
				}
				return s.env.Grant(lease.Request, 0, 0), nil
			}
		}), true, true, within(crash)},
		{named("expire-later", func(s *small) {
			s.requests, s.takes, s.release = []string{"setnx", "expire", "delete"}, "setnx", safeDelete
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				call := s.env.Clock.Mono()
				if n, err := s.number(ctx, req, "setnx", "SETNX", req.Lock, req.Owner); n != 1 || err != nil {
					return s.taken(req, call, n, err)
				}
				n, err := s.number(ctx, req, "expire", "PEXPIRE", req.Lock, s.env.TTL.Milliseconds())
				return s.taken(req, call, n, err)
			}
		}), true, false, within(crash)},
		{named("later-names-win", func(s *small) { // only what c2 begins, and c1 goes on with
			s.requests, s.release = []string{"script", "delete"}, safeDelete
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				call := s.env.Clock.Mono()
				n, err := s.eval(ctx, req, "script", `local v = redis.call("GET", KEYS[1])
					if v and ARGV[1] > v then return 0 end redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`, req.Owner, s.env.TTL.Milliseconds())
				return s.taken(req, call, n, err)
			}
		}), true, true, within(nil)},
		{named("counts-listeners", func(s *small) { // keeps the key where nobody else is there to take it over
			s.requests, s.takes = []string{"subscribe", "set", "publish", "delete"}, "set"
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				if s.sub == nil {
					s.sub = s.redis.Subscribe(ctx)
				}
				if err := s.env.Send(ctx, req, "subscribe", func(ctx context.Context) error {
					if err := s.sub.Subscribe(ctx, req.Lock+":heard"); err != nil {
						return err
					}
					_, err := s.sub.Receive(ctx)
					return err
				}); err != nil {
					return nil, err
				}
				_, err := s.do(ctx, req, "set", "SET", req.Lock, req.Owner, "NX")
				if _, err := s.taken(req, s.env.Clock.Mono(), 1, err); err != nil {
					return nil, err
				}
				return s.env.Grant(req, 0, 0), nil
			}
			s.traits = lb.Traits{}
			s.release = func(s *session, ctx context.Context, req lb.Request) error {
				if n, err := s.number(ctx, req, "publish", "PUBLISH", req.Lock+":heard", "free"); n < 2 || err != nil {
					return err // it was not given back
				}
				return safeDelete(s, ctx, req)
			}
		}), true, false, within(func(b *explore.Bounds) { b.Crashes = 1 })},
		{named("renews-too-long", func(s *small) { // what it has given back, and another may have
			s.requests, s.traits, s.release = []string{"set", "renew", "delete"}, lb.Traits{Leased: true, Renewing: true}, safeDelete
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				lease, err := s.set(ctx, req)
				if err != nil {
					return nil, err
				}
				s.renewed(lease, func(ctx context.Context) (int64, error) {
					_, err := s.do(ctx, req, "renew", "SET", req.Lock, req.Owner, "PX", s.env.TTL.Milliseconds())
					return 1, err
				})
				s.stops["in the end"] = s.stops[req.Owner]
				delete(s.stops, req.Owner)
				return lease, nil
			}
		}), true, false, within(func(b *explore.Bounds) { b.Renewals = 1 })},
		{named("refreshes", func(s *small) { // the lease of whoever has it, whenever it is refused
			s.requests, s.release = []string{"script", "delete"}, safeDelete
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				call := s.env.Clock.Mono()
				n, err := s.eval(ctx, req, "script", `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end redis.call("PERSIST", KEYS[1]) return 0`, req.Owner, s.env.TTL.Milliseconds())
				return s.taken(req, call, n, err)
			}
		}), true, false, within(crash)},
		{named("wrong-unit", func(s *small) { // milliseconds that were meant to be seconds
			s.release = safeDelete
			s.requests = []string{"set", "delete"}
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				call := s.env.Clock.Mono()
				_, err := s.do(ctx, req, "set", "SET", req.Lock, req.Owner, "NX", "PX", s.env.TTL.Milliseconds()/1000)
				return s.taken(req, call, 1, err)
			}
		}), true, false, within(nil)},
		{named("counts-its-tries", func(s *small) { // and takes the lock with the second
			s.requests, s.release = []string{"script", "delete"}, safeDelete
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				call := s.env.Clock.Mono()
				n, err := s.eval(ctx, req, "script", `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end
if redis.call("INCR", KEYS[2] .. ARGV[1]) < 2 then return 0 end redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`, req.Owner, s.env.TTL.Milliseconds())
				return s.taken(req, call, n, err)
			}
		}), true, false, within(polls)},
		{named("until-then", func(s *small) { // a time that was read before, and a lease that is counted from after
			s.release = safeDelete
			s.requests = []string{"set", "delete"}
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				until := s.env.Clock.Now().Add(s.env.TTL).UnixMilli()
				var call lb.Reading
				err := s.env.Send(ctx, req, "set", func(ctx context.Context) error {
					call = s.env.Clock.Mono()
					return s.redis.Do(ctx, "SET", req.Lock, req.Owner, "NX", "PXAT", until).Err()
				})
				if errors.Is(err, redis.Nil) {
					err = errRefused
				}
				return s.taken(req, call, 1, err)
			}
		}), true, false, within(expiry)},
		{named("leaves-it", func(s *small) { // to whoever comes, where its caller has given up
			s.traits.Leased = false
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				_, err := s.do(ctx, req, "set", "SET", req.Lock, req.Owner, "NX")
				switch {
				case errors.Is(err, errRefused):
					return nil, lb.ErrHeld
				case err == nil && ctx.Err() != nil:
					return nil, lb.ErrNoEffect
				}
				return s.env.Grant(req, 0, 0), err
			}
		}), true, true, within(quits)},
		{named("looks-twice", func(s *small) { // three requests, between which another comes
			s.requests, s.reads, s.takes, s.release = []string{"get", "put", "get-again", "delete"}, []string{"get", "get-again"}, "put", safeDelete
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				lease, err := getThenSet(s, ctx, req)
				if err != nil {
					return nil, err
				}
				if v, err := read(s, ctx, req, "get-again"); v != req.Owner || err != nil {
					return nil, errors.Join(err, lb.ErrHeld)
				}
				return lease, nil
			}
		}), true, false, within(nil)},
		{named("another-key", func(s *small) { // its script frees a key that is not its own
			s.requests = []string{"set", "script"}
			s.release = func(s *session, ctx context.Context, req lb.Request) error {
				return gone(s.eval(ctx, req, "script", `redis.call("DEL", KEYS[2]) return redis.call("DEL", KEYS[1])`))
			}
		}), true, false, within(func(b *explore.Bounds) { b.Lost, b.Polls = 1, 1 })},
		{named("own-clock", func(s *small) { // deletes unless its lease is over by its clock, which it looks at too early
			s.release = func(s *session, ctx context.Context, req lb.Request) error {
				if until := lb.Reading(s.keeps["until"]); until != 0 && s.env.Clock.Mono() >= until {
					return lb.ErrLost // and sends nothing
				}
				return plainDelete(s, ctx, req)
			}
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				lease, err := s.set(ctx, req)
				if lease != nil {
					s.keeps["until"] = int(lease.Until())
				}
				return lease, err
			}
		}), true, false, within(expiry)},
		{named("says-nothing", func(s *small) { // gives back without a request
			s.requests, s.takes, s.acquire = []string{"get", "put"}, "put", getThenSet
			s.reads = []string{"get"}
			s.release = func(*session, context.Context, lb.Request) error { return nil }
		}), true, false, within(nil)},
		{named("pops-a-token", func(s *small) { // that dies with whoever has it
			s.requests, s.traits = []string{"begin", "pop", "push"}, lb.Traits{}
			s.takes = "pop"
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				if _, err := s.eval(ctx, req, "begin", `if redis.call("SETNX", KEYS[2], 1) == 1 then redis.call("LPUSH", KEYS[1], 1) end return 1`); err != nil {
					return nil, err
				}
				_, err := s.do(ctx, req, "pop", "LPOP", req.Lock)
				if _, err := s.taken(req, s.env.Clock.Mono(), 1, err); err != nil {
					return nil, err
				}
				return s.env.Grant(req, 0, 0), nil
			}
			s.release = func(s *session, ctx context.Context, req lb.Request) error {
				_, err := s.number(ctx, req, "push", "LPUSH", req.Lock, 1)
				return err
			}
		}), true, false, within(crash)},
		{named("tries-again-blindly", func(s *small) { // a lost reply is taken for a refusal, and the key is left
			s.requests, s.traits, s.release = []string{"setnx", "delete"}, lb.Traits{}, safeDelete
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				n, err := s.number(ctx, req, "setnx", "SETNX", req.Lock, req.Owner)
				if err != nil || n != 1 {
					return nil, lb.ErrHeld
				}
				return s.env.Grant(req, 0, 0), nil
			}
		}), true, false, within(lost)},
		{named("third-comes-in", func(s *small) { // lets in whoever finds that two have asked
			s.requests, s.traits = []string{"script", "leave"}, lb.Traits{}
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				n, err := s.eval(ctx, req, "script", `local n = redis.call("INCR", KEYS[2]) if n == 3 or redis.call("SETNX", KEYS[1], ARGV[1]) == 1 then return 1 end return 0`, req.Owner)
				if _, err := s.taken(req, s.env.Clock.Mono(), n, err); err != nil {
					return nil, err
				}
				return s.env.Grant(req, 0, 0), nil
			}
			s.release = func(s *session, ctx context.Context, req lb.Request) error {
				return gone(s.eval(ctx, req, "leave", compareAndDelete, req.Owner))
			}
		}), true, false, explore.Bounds{Clients: 3, Acquisitions: 1}},
		{named("lost-and-over", func(s *small) { // two faults: a release that was not answered is sent again, and deletes
			s.requests, s.release = []string{"set", "delete", "del"}, func(s *session, ctx context.Context, req lb.Request) error {
				if s.keeps[req.Owner]++; s.keeps[req.Owner] > 1 {
					return plainDelete(s, ctx, req)
				}
				return safeDelete(s, ctx, req)
			}
		}), true, false, within(func(b *explore.Bounds) { b.Expiries, b.Lost, b.Faults = 1, 1, 2 })},
		{named("remembers", func(s *small) { // that it held the lock last, and asks no more
			s.requests, s.traits, s.release = []string{"setnx", "look", "delete"}, lb.Traits{}, func(s *session, ctx context.Context, req lb.Request) error {
				if s.keeps["held"]++; s.keeps["held"] == 1 {
					_, err := read(s, ctx, req, "look")
					return err // keeps it for the next time
				}
				return gone(s.number(ctx, req, "delete", "DEL", req.Lock))
			}
			s.reads = []string{"look"}
			s.acquire = func(s *session, ctx context.Context, req lb.Request) (*lb.Lease, error) {
				n, err := int64(1), error(nil)
				if s.keeps["held"] == 0 {
					n, err = s.number(ctx, req, "setnx", "SETNX", req.Lock, strings.Split(req.Owner, ".")[0])
				} else if _, err = read(s, ctx, req, "look"); err != nil {
					return nil, err
				}
				if _, err := s.taken(req, s.env.Clock.Mono(), n, err); err != nil {
					return nil, err
				}
				return s.env.Grant(req, 0, 0), nil
			}
		}), true, false, explore.Bounds{Clients: 2, Acquisitions: 1, Polls: 1}},
	}
}
