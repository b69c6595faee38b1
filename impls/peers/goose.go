package peers

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/pressly/goose/v3/lock"
)

const gooseSource = "github.com/pressly/goose/v3 v3.26.0, package lock"

// GooseTable is the lock of goose, by which it keeps others from migrating the same database: a row with a lease, which a
// heartbeat renews:
//
//	l, err := lock.NewPostgresTableLocker()
//	l.Lock(ctx, db)
//	l.Unlock(ctx, db)
//
// The lease is the run's, and its other times are in the proportions of its defaults: of a lease of 30 s, 5 s for the heartbeat,
// 5 s between two tries, and 2 s between two releases, of which it makes 31. Each acquisition has a locker, and so an owner, of
// its own, as a process that migrates once has. The library has no token, does not say for how long the lock is good, and
// tells nobody that a heartbeat failed. It renews for as long as the context of Lock lives, and so that lives here until the
// release. It leaves parts of a second out, so that a lease of less than one is over at once. What a Lock has taken that ended
// with an error it can't give back. Versions from v3.27 on send the same, up to v3.30.1, but would have the drivers and
// servers of other rows be newer.
func GooseTable() lb.Impl { return gooseTable{} }

type gooseTable struct{}

func (gooseTable) Info() lb.Info {
	return lb.Info{
		Name:       "peer-goose-table",
		Doc:        "goose's NewPostgresTableLocker: a row with a lease by the server's clock, and a heartbeat",
		Source:     gooseSource,
		Topologies: []string{"postgres", "postgres-replica", "postgres-sync"},
		Requests:   []string{"exists", "insert", "sweep", "renew", "release", "create"},
		Reads:      []string{"exists"},
		Takes:      "insert",
		Tables:     true,
		Traits:     lb.Traits{Renewing: true},
		Expect:     gooseTableExpect(),
	}
}

// gooseTableExpect: where the holder of another renewed lease is told that it is over, and has to look, this one works on.
func gooseTableExpect() []lb.Expectation {
	const (
		untold = "nobody is told of a heartbeat that fails (a line in a log, where a logger was given), and the next one is sent all the same: the holder works on when the lease is somebody else's"
		late   = "Lock does not look at the time that the answer took: what TCP delivers after the fault is a lease that is over"
	)
	broken, perhaps := []lb.Outcome{lb.Broken}, []lb.Outcome{lb.Broken, lb.Safe}
	base := compose.RenewedOnWallClock(compose.PostgreSQL.OnDisk(compose.Lease()))
	return compose.Except(base, slices.Concat(
		compose.Under(lb.Expectation{Outcomes: broken, Reason: lb.DoubleGrant, Why: untold, Source: gooseSource},
			"pause-holder", "cut-holder", "pause@before-write"),
		compose.Under(lb.Expectation{Outcomes: perhaps, Source: gooseSource,
			Why: "the server's wall clock ends the lease, until the next heartbeat, of which there are six in one by the holder's; whether somebody asks meanwhile, which nobody tells the holder, is chance"},
			"server-clock", "server-clock:drift"),
		compose.Under(lb.Expectation{Outcomes: perhaps, Why: untold + "; whether that is so by then is chance", Source: gooseSource},
			"restart-server", "kill-server", "cut-rejoin", "cut-halves", "server-clock:back"),
		compose.Under(lb.Expectation{Outcomes: perhaps, Why: late + ", of which nobody hears", Source: gooseSource}, "lost-grant", "late-grant"),
		compose.Under(lb.Expectation{Outcomes: perhaps,
			Why: "a release that is sent again frees nothing but its own; but the heartbeats of its neighbour on the host may be held up, too, and the answer to its Lock", Source: gooseSource},
			"lose-reply", "slow-reply", "reset-reply", "reset-grant"))...)
}

// gooseName is what a statement of the library's is for.
func gooseName(statement string) (string, lb.Actor) {
	has := func(part string) bool { return strings.Contains(statement, part) }
	switch {
	case has("pg_tables"):
		return "exists", lb.Main
	case has("CREATE TABLE"):
		return "create", lb.Main
	case has("INSERT INTO"):
		return "insert", lb.Main
	case has("lease_expires_at = now()"):
		return "renew", lb.Renewal
	case has("lease_expires_at < now()"):
		return "sweep", lb.Main
	}
	return "release", lb.Main
}

func (gooseTable) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c := &gooseTableClient{onPostgres: onPostgres{env: env, name: gooseName, answered: hearGoose}}
	if err := c.open(ctx); err != nil {
		return nil, fmt.Errorf("goose: %w", err)
	}
	return lb.Again(lb.Exclusive(c)), nil
}

type gooseTableClient struct {
	onPostgres
	held lb.Held[*gooseHold]
}

// gooseHold is an acquisition.
type gooseHold struct {
	lock.Locker
	life    context.Context // of the heartbeat
	end     context.CancelFunc
	granted atomic.Bool
	// What the last request for the lock, and those for its release, were answered.
	refused, unsure        atomic.Bool
	notHeld, unsureRelease atomic.Bool
	unlocking              *locking // nil until Unlock is called, which must not happen twice
}

type gooseKey struct{}

// hearGoose hears what the server said, which the library's errors don't tell.
func hearGoose(ctx context.Context, name string, _ driver.Value, err error) error {
	h, ok := ctx.Value(gooseKey{}).(*gooseHold)
	none := errors.Is(err, sql.ErrNoRows)
	switch {
	case !ok, errors.Is(err, driver.ErrBadConn): // that one was certainly not sent
	case name == "insert":
		h.refused.Store(none)
		if err == nil {
			h.unsure.Store(false)
		} else if !none && !refused(err) {
			h.unsure.Store(true)
		}
		if none {
			return lb.ErrHeld
		}
	case name == "release":
		h.notHeld.Store(none)
		if err != nil && !none && !refused(err) {
			h.unsureRelease.Store(true)
		}
		if none {
			return lb.ErrLost
		}
	}
	if name == "sweep" && none { // there was nothing to sweep
		return nil
	}
	return err
}

func (c *gooseTableClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) { return c.lock(ctx, req) })
}

// lock is one call of the library's Lock, which waits for ten leases.
func (c *gooseTableClient) lock(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	h := &gooseHold{}
	var err error
	if h.Locker, err = newGooseLocker(c.env.TTL, req, h); err != nil {
		return nil, lb.NoEffect(fmt.Errorf("goose: %w", err))
	}
	h.life, h.end = context.WithCancel(context.WithValue(serving(context.WithoutCancel(ctx), req), gooseKey{}, h))
	stop := context.AfterFunc(ctx, h.end)
	c.held.Put(req.Owner, h)
	locks := func(context.Context) error { return h.Lock(h.life, c.DB) }
	if err = locksOrWaits(ctx, c.env, req, locks); err == nil && stop() {
		h.granted.Store(true)
		return c.env.Grant(req, 0, 0), nil
	}
	h.end()
	switch {
	case err == nil: // granted just as the caller gave up, who gives it back
		return nil, ctx.Err()
	case h.unsure.Load():
		return nil, fmt.Errorf("goose: lock: %w", err)
	case ctx.Err() == nil && h.refused.Load():
		err = lb.ErrHeld
	default:
		err = lb.NoEffect(fmt.Errorf("goose: lock: %w", err))
	}
	c.held.Drop(req.Owner)
	return nil, err
}

// locksOrWaits is a call that waits for the lock unless it is a try.
func locksOrWaits(ctx context.Context, env *lb.Env, req lb.Request, lock func(context.Context) error) error {
	if req.Try {
		return lock(ctx)
	}
	return env.Wait(ctx, req, "lock", lock)
}

func newGooseLocker(ttl time.Duration, req lb.Request, h *gooseHold) (lock.Locker, error) {
	options := []lock.TableLockerOption{
		lock.WithTableName(lb.Prefix + "_goose_lock"),
		lock.WithTableLockID(gooseID(req.Lock)),
		lock.WithTableLeaseDuration(ttl),
		lock.WithTableHeartbeatInterval(ttl / 6),
		lock.WithTableLockTimeout(ttl/6, 60),
		lock.WithTableUnlockTimeout(ttl/15, 30),
	}
	if req.Try { // once; its release is made again and again like any other
		options = append(options, lock.WithTableRetryPolicy(func(error) bool { return h.granted.Load() }))
	}
	return lock.NewPostgresTableLocker(options...)
}

// gooseID is the lock's name as the library can say it: a number above 0.
func gooseID(name string) int64 {
	sum := sha256.Sum256([]byte(name))
	return int64(binary.BigEndian.Uint64(sum[:])>>1) | 1
}

var (
	errGooseUnheard = errors.New("goose: Lock has ended with an error, and what it may have taken nothing but its lease ends")
	errGooseUnlock  = errors.New("goose: Unlock has failed, and must not be called again: the lease ends by itself")
)

// Release implements [lb.Client]. The library makes it again and again where the row is somebody else's.
func (c *gooseTableClient) Release(ctx context.Context, req lb.Request) error {
	h, ok := c.held.Get(req.Owner)
	switch {
	case !ok:
		return lb.ErrLost
	case h.unsure.Load():
		return errGooseUnheard
	}
	if h.unlocking == nil {
		h.unlocking = &locking{done: make(chan struct{})}
		go func() {
			defer close(h.unlocking.done)
			h.unlocking.err = h.Unlock(context.WithValue(serving(ctx, req), gooseKey{}, h), c.DB)
		}()
	}
	select {
	case <-h.unlocking.done:
	case <-ctx.Done():
		return fmt.Errorf("goose: unlock: %w", ctx.Err())
	}
	h.end()
	switch err := h.unlocking.err; {
	case err == nil:
	case !h.notHeld.Load():
		return fmt.Errorf("%w: %w", errGooseUnlock, err)
	case h.unsureRelease.Load(): // it was sent again, and the first may have done it
		c.held.Drop(req.Owner)
		return lb.ErrReleased
	default:
		c.held.Drop(req.Owner)
		return lb.ErrLost
	}
	c.held.Drop(req.Owner)
	return nil
}

// Close ends the heartbeats, and with them, in time, what is held.
func (c *gooseTableClient) Close() error {
	for _, h := range c.held.All() {
		h.end()
	}
	return c.DB.Close()
}
