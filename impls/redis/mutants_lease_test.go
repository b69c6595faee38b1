package redis

import (
	"context"
	"errors"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// endless tells its caller of no end of the lease, as libraries do that renew, and only that it is
// lost. Where it gives up, one renewal that fails ends them all: the exception has ended the task.
type endless struct {
	watchdog
	givesUp bool
}

func unbounded(how string, givesUp bool) lb.Impl {
	a := mutate(Watchdog(), how, func(s session) lb.Client {
		return &endless{watchdog{renewed{listener: listener{session: s}}}, givesUp}
	}).(algorithm)
	a.info.Traits = lb.Traits{Renewing: true, Push: true, LostNotice: true}
	return alone(a)
}

func (c *endless) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	ttl := []any{req.Owner, c.env.TTL.Milliseconds()}
	return c.await(ctx, req, freed(req.Lock), func(ctx context.Context) (lease *lb.Lease, wait time.Duration, err error) {
		_, err = c.run(ctx, c.rdb, req, "acquire", script{watchdogAcquire, []string{req.Lock}, ttl}, func(left int64) error {
			wait = c.untilFree(left)
			return taken(left == 0)
		})
		if err != nil {
			return nil, wait, lb.Unsent(err)
		}
		lease = c.env.Grant(req, 0, 0)
		c.renewals.Put(req.Owner, renewal{lease, c.keep(lease, script{compareAndExpire, []string{req.Lock}, ttl})})
		return lease, 0, nil
	})
}

// keep renews every third of the TTL, which a renewal may take, too.
func (c *endless) keep(lease *lb.Lease, renew script) (stop func()) {
	ctx, end := context.WithCancel(context.Background())
	third := c.env.TTL / 3
	spare := c.env.After(ctx, lb.Renewal, lease.Request, "renewal", third, func(ctx context.Context) {
		for again := true; again; {
			call := c.env.Clock.Mono()
			bounded, cancel := c.env.WithTimeout(ctx, third)
			_, err := ask(bounded, c.session, lease.Request, "renew", func(ctx context.Context) (int64, error) {
				return renew.Eval(ctx, c.rdb, renew.keys, renew.args...).Int64()
			}, released)
			cancel()
			switch {
			case ctx.Err() != nil, err != nil && c.givesUp:
				return
			case errors.Is(err, lb.ErrLost):
				lease.Lose("the lock service refused the renewal")
				return
			}
			again = c.env.Sleep(ctx, lease.Request, "renewal", third-c.env.Clock.Mono().Sub(call)) == nil
		}
	})
	return func() { spare(); end() }
}

// tickets is a queue of numbers: who has the lowest holds the lock, and each keeps its place, by the
// server's clock, as long as it asks. One that asks without keeping its place is evicted alive when it has
// waited for a lease; its number is still lower than those of all who come later.
type tickets struct {
	renewed
	keeps bool // the place of one who waits
}

// The scripts have the numbers, the ends of the places, and the counter for keys, and the owner and the TTL for
// arguments.
var (
	enterQueue = redis.NewScript(`local n = redis.call("incr", KEYS[3])
redis.call("zadd", KEYS[1], n, ARGV[1])
local t = redis.call("time")
redis.call("zadd", KEYS[2], t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2], ARGV[1])
return n`)
	keepPlace = redis.NewScript(`local t = redis.call("time")
redis.call("zadd", KEYS[2], "XX", t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2], ARGV[1])
return redis.call("zscore", KEYS[2], ARGV[1]) and 1 or 0`)
	// lookAhead says how many are before the number, of those whose place is kept.
	lookAhead = redis.NewScript(`local t = redis.call("time")
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if ARGV[4] == "1" then redis.call("zadd", KEYS[2], "XX", now + ARGV[2], ARGV[1]) end
for _, gone in ipairs(redis.call("zrangebyscore", KEYS[2], "-inf", now)) do
  redis.call("zrem", KEYS[1], gone)
  redis.call("zrem", KEYS[2], gone)
end
return redis.call("zcount", KEYS[1], "-inf", "(" .. ARGV[3])`)
	leaveQueue = redis.NewScript(`redis.call("zrem", KEYS[2], ARGV[1]) return redis.call("zrem", KEYS[1], ARGV[1])`)
)

func queueOfNumbers(how string, keeps bool) lb.Impl {
	a := mutate(Watchdog(), how, func(s session) lb.Client {
		return &tickets{renewed{listener: listener{session: s}}, keeps}
	}).(algorithm)
	a.info.Name, a.info.Requests, a.info.Takes = "redis-tickets-"+how, []string{"enter", "acquire", "renew", "release"}, "acquire"
	a.info.Traits = lb.Traits{Leased: true, Renewing: true, LostNotice: true}
	return alone(a)
}

func (c *tickets) script(s *redis.Script, req lb.Request, more ...any) script {
	return script{s, []string{req.Lock, req.Lock + ":places", req.Lock + ":last"}, append([]any{req.Owner, c.env.TTL.Milliseconds()}, more...)}
}

func (c *tickets) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	number := int64(0)
	if _, err := c.run(ctx, c.rdb, req, "enter", c.script(enterQueue, req), func(n int64) error {
		number = n
		return nil
	}); err != nil {
		return nil, lb.Unsent(err)
	}
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		lease, _, err := c.tryAs(ctx, req, c.script(lookAhead, req, number, c.keeps), c.script(keepPlace, req), func(before int64) bool { return before == 0 })
		return lease, err
	})
}

func (c *tickets) Release(ctx context.Context, req lb.Request) error {
	return c.release(ctx, req, c.script(leaveQueue, req))
}

// wholeLease tells the server its TTL in whole seconds, and counts on the rest of it.
type wholeLease struct{ setPXLua }

func (c wholeLease) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		sent, err := ask(ctx, c.session, req, "set", func(ctx context.Context) (bool, error) {
			return c.rdb.SetNX(ctx, req.Lock, req.Owner, c.env.TTL.Truncate(time.Second)).Result()
		}, taken)
		if err != nil {
			return nil, lb.Unsent(err)
		}
		return c.env.Grant(req, 0, c.env.Validity(sent)), nil
	})
}

// roundedLease tells the server its TTL, and counts on the next whole second.
type roundedLease struct{ setPXLua }

func (c roundedLease) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.setPXLua.Acquire(ctx, req)
	if err != nil {
		return nil, err
	}
	more := (-c.env.TTL%time.Second + time.Second) % time.Second
	return c.env.Grant(req, 0, lease.Until().Add(more)), nil
}
