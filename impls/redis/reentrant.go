package redis

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/redis/go-redis/v9"
)

var (
	//go:embed reentrant_acquire.lua
	reentrantAcquireSource string
	//go:embed reentrant_release.lua
	reentrantReleaseSource string

	reentrantAcquire = redis.NewScript(reentrantAcquireSource)
	reentrantRelease = redis.NewScript(reentrantReleaseSource)

	// existsAndExpire extends the key's life if the client is in the hash.
	existsAndExpire = redis.NewScript(`if redis.call("hexists", KEYS[1], ARGV[1]) == 1 then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`)
)

// Reentrant is the lock of Redisson: a hash with one field, the client that
// holds the lock, whose value counts how often it does:
//
//	if the hash is missing or has my field: HINCRBY lock me 1, PEXPIRE lock ttl
//	if it has my field: PEXPIRE lock ttl                  (every ttl/3, while held)
//	count down; at 0 DEL lock, PUBLISH channel
//
// Each step is one script. Source: Redisson's RLock (RedissonLock). Two things are
// done otherwise. A release tells the count that shall be left, where Redisson's
// counts down by one. So a release that is sent again after a lost reply does not
// take away the client's other acquisitions. And a client that acquires again and
// finds the lock free knows by that that it has lost what it held, which is not
// revived by the new grant.
func Reentrant() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "redis-reentrant",
			Doc:        "a hash of client and count, renewed; waiters are woken by pub/sub",
			Source:     "Redisson RLock",
			Topologies: oneServer,
			Requests:   renewable,
			Reads:      listening,
			Takes:      "acquire",
			Scripts:    true,
			Traits:     lb.Traits{Leased: true, Renewing: true, Push: true, Reentrant: true, LostNotice: true},
			Expect:     reentered(),
		},
		open: func(s session) lb.Client { return newReentrant(s) },
	}
}

func newReentrant(s session) *reentrant {
	return &reentrant{
		renewed: renewed{listener: listener{session: s}},
		// A client that opens another session is another owner: what the old
		// one left behind must not look like an acquisition of its own.
		me:   fmt.Sprintf("%s:%x", s.env.Client, s.env.Rand.Uint64()),
		mine: map[string]map[string]bool{},
	}
}

// reentered is what it costs that the client, and not the acquisition, is the owner.
func reentered() []lb.Expectation {
	same := func(fault, who string) lb.Expectation {
		return lb.Expectation{Fault: fault, Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: who + " is the same client for the lock, and re-enters what the other holds", Source: "the protocol"}
	}
	return compose.Except(compose.InRedis(compose.OnReplica(compose.RenewedOnWallClock(compose.Lease()))),
		same("twin-holder", "a process with the same identity"), same("shared-session", "a thread of the same session"),
		lb.Expectation{Fault: "cut-rejoin", Outcomes: []lb.Outcome{lb.Safe, lb.Check, lb.Broken},
			Why: "a release that the network delivers late is one of the same client, and takes what that holds by then", Source: "the protocol"})
}

// grantedAnew is the answer of the script that acquires where the lock was free.
const grantedAnew = -2

type reentrant struct {
	renewed
	me string
	// mine are the acquisitions that were granted or may have been, by lock and
	// owner, and whether they certainly were.
	mine map[string]map[string]bool
}

func (c *reentrant) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	keys, ttl := []string{req.Lock}, c.env.TTL.Milliseconds()
	return c.await(ctx, req, freed(req.Lock), func(ctx context.Context) (*lb.Lease, time.Duration, error) {
		c.remember(req, false)
		lease, wait, err := c.tryAs(ctx, req, script{reentrantAcquire, keys, []any{c.me, ttl}}, script{existsAndExpire, keys, []any{c.me, ttl}}, func(answer int64) bool {
			if answer == grantedAnew {
				c.lost(req.Lock)
			}
			return answer == grantedAnew || answer == 0
		})
		switch lb.AnswerOf(err) {
		case lb.AnswerOK:
			c.remember(req, true)
		case lb.AnswerFailed:
			c.forget(req)
		}
		return lease, wait, err
	})
}

func (c *reentrant) Release(ctx context.Context, req lb.Request) error {
	if _, ok := c.mine[req.Lock][req.Owner]; !ok {
		return lb.ErrLost // never asked for in this session, or known to be lost
	}
	keep := 0
	for owner, granted := range c.mine[req.Lock] {
		if granted && owner != req.Owner {
			keep++
		}
	}
	err := c.release(ctx, req, script{reentrantRelease, []string{req.Lock}, []any{c.me, keep, freed(req.Lock)}})
	if lb.AnswerOf(err) != lb.AnswerUnknown {
		c.forget(req)
	}
	return err
}

func (c *reentrant) remember(req lb.Request, granted bool) {
	if c.mine[req.Lock] == nil {
		c.mine[req.Lock] = map[string]bool{}
	}
	c.mine[req.Lock][req.Owner] = granted
}

func (c *reentrant) forget(req lb.Request) {
	if delete(c.mine[req.Lock], req.Owner); len(c.mine[req.Lock]) == 0 {
		delete(c.mine, req.Lock)
	}
}

// lost gives up the acquisitions that were granted before a grant which found the lock
// free: the renewals of that grant must not revive them, nor their releases take it
// away. One that perhaps was granted stays: it may still arrive at the server.
func (c *reentrant) lost(lock string) {
	for owner, granted := range c.mine[lock] {
		if granted {
			c.lose(owner, "the lock was free when it was acquired again")
			c.forget(lb.Request{Lock: lock, Owner: owner})
		}
	}
}
