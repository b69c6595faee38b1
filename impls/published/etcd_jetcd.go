package published

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/etcd"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Jetcd is the class EtcdDistributedLock of the etcd survey, written for jetcd
// 0.5.11: a lease, a task that keeps it alive, the server's Lock RPC.
//
// Its mistakes are kept. What matters most: lock() catches every exception, prints
// it, and returns as if it had the lock. A waiter whose lease has ended is told so
// by etcd, and goes to work.
//
// What the listing leaves open is taken as follows. LockData, which is not shown,
// counts from 1: otherwise the first unlock would throw. KeepAliveTask, not shown
// either, calls keepAliveOnce and does not wait for the answer. A lock object is
// made for each acquisition, as the controller of the listing does. jetcd itself
// asks again when a server is unavailable. lock() has no deadline and nobody
// interrupts its thread; the end of its context stands for the end of the program.
func Jetcd() lb.Impl { return jetcdImpl{} }

type jetcdImpl struct{}

func (jetcdImpl) Info() lb.Info {
	const listing = "class EtcdDistributedLock"
	return lb.Info{
		Name:       "published-001-jetcd",
		Doc:        "lease, keepalive every 4/5 of it, Lock RPC; an exception in lock() is printed and forgotten",
		Source:     "etcd survey with a Java demo, " + listing,
		Topologies: []string{"etcd", "etcd-3"},
		Requests:   []string{"grant", "keep-alive", "lock", "unlock", "revoke"},
		Own:        []string{"keep-alive"},
		Takes:      "lock",
		NoTry:      true,
		Traits:     lb.Traits{Renewing: true, Push: true, Fair: true, Reentrant: true, Session: true},
		Expect: slices.Concat([]lb.Expectation{
			compose.Forgotten(),
			{Fault: "expire-waiter", Outcomes: []lb.Outcome{lb.Broken},
				Why: "the failure of its Lock RPC, whose lease has ended, counts as success; whether somebody else holds the lock by then is chance", Source: listing},
			{Fault: "cut-holder", Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
				Why: "nothing tells the holder that its lease has ended", Source: listing},
		}, compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken}, Reason: lb.DoubleGrant,
			Why: "nothing tells the frozen holder that its lease has ended, and its waiting neighbour's failure counts as success", Source: listing},
			"pause-holder", "pause@before-write", "pause@before-lock"),
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Reason: lb.DoubleGrant,
				Why: "an answer that does not come is an exception, which counts as success", Source: listing},
				"lost-grant", "late-grant", "lose-reply", "reset-grant", "reset-reply", "cut-rejoin", "cut-leader", "cut-halves"),
			compose.Under(lb.Expectation{Outcomes: []lb.Outcome{lb.Broken, lb.Safe}, Reason: lb.DoubleGrant,
				Why: "toSeconds rounds the lease down, and the period of its renewals not: of 1.3 s the server keeps one, and is asked again after 1.04 s; who works for less is safe", Source: listing},
				append(compose.ServerClocks(), "none", "kill-holder", "pause-client", "slow-work", "release-twice",
					"kill-leader", "pause-leader", "failover", "restart-server", "client-clock", "client-clock:back")...)),
	}
}

func (jetcdImpl) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := etcd.Dial(ctx, env)
	if err != nil {
		return nil, err
	}
	alive, exit := context.WithCancel(context.Background())
	return lb.Again(&jetcdClient{env: env, etcd: c, alive: alive, exit: exit, locks: map[string]*etcdDistributedLock{}}), nil
}

// jetcdClient is one thread of the published program.
type jetcdClient struct {
	env   *lb.Env
	etcd  *clientv3.Client
	alive context.Context // until the program ends
	exit  context.CancelFunc
	locks map[string]*etcdDistributedLock // by the lock's name, while locked
}

func (c *jetcdClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if req.Try || req.Shared {
		return nil, lb.ErrUnsupported // the listing has lock() and unlock() only
	}
	l := c.locks[req.Lock]
	if l == nil {
		l = newEtcdDistributedLock(c, req.Lock)
		c.locks[req.Lock] = l
	}
	if err := l.lock(ctx, req); err != nil {
		return nil, err
	}
	return c.env.Grant(req, 0, 0), nil
}

// Release is unlock(), which tells its caller nothing unless it throws.
func (c *jetcdClient) Release(ctx context.Context, req lb.Request) error {
	ctx, cancel := c.env.Whole(ctx)
	defer cancel()
	l := c.locks[req.Lock]
	if l == nil {
		return lb.ErrLost
	}
	if l.ended { // the program has ended inside of lock(): only its lease is left
		delete(c.locks, req.Lock)
		l.scheduledExecutorService.shutdown()
		if _, err := c.etcd.Revoke(etcd.For(ctx, req), l.leaseID); err != nil && !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return fmt.Errorf("revoke: %w", err)
		}
		return lb.ErrLost
	}
	err := l.unlock(ctx, req)
	if l.data == nil {
		delete(c.locks, req.Lock)
	}
	if err != nil {
		return err
	}
	return lb.ErrReleased
}

func (c *jetcdClient) Close() error {
	c.exit()
	return c.etcd.Close()
}

// etcdDistributedLock has the fields of the class that do something.
type etcdDistributedLock struct {
	c                        *jetcdClient
	lockClient               v3lockpb.LockClient
	lockKey                  string
	lockPath                 []byte // null until locked
	leaseTTL                 time.Duration
	scheduledExecutorService *scheduler
	data                     *lockData // threadData's entry of this thread

	// Not of the listing: how far lock() had come when the program ended.
	leaseID clientv3.LeaseID
	ended   bool
}

type lockData struct {
	lockCount   int
	lockSuccess bool
	leaseID     clientv3.LeaseID
	service     *scheduler
}

func newEtcdDistributedLock(c *jetcdClient, lockKey string) *etcdDistributedLock {
	return &etcdDistributedLock{
		c: c, lockClient: v3lockpb.NewLockClient(c.etcd.ActiveConnection()), lockKey: lockKey, leaseTTL: c.env.TTL,
		scheduledExecutorService: newSingleThreadScheduledExecutor(c.alive, c.env),
	}
}

// lock returns an error only when the program ends.
func (l *etcdDistributedLock) lock(ctx context.Context, req lb.Request) error {
	if l.data != nil && l.data.lockSuccess {
		l.data.lockCount++
		return nil
	}
	err := l.tryBlock(ctx, req)
	if ctx.Err() != nil {
		l.ended = true
		return ctx.Err()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "published-001-jetcd: e.printStackTrace():", err) // and lock() returns
	}
	return nil
}

// tryBlock is what stands between try and catch.
func (l *etcdDistributedLock) tryBlock(ctx context.Context, req lb.Request) error {
	env, ctx := l.c.env, etcd.For(ctx, req)
	// TimeUnit.NANOSECONDS.toSeconds rounds down: a TTL below a second is none.
	granted, err := l.c.etcd.Grant(ctx, int64(l.leaseTTL/time.Second))
	if err != nil {
		return err
	}
	l.leaseID = granted.ID
	period := l.leaseTTL - l.leaseTTL/5
	l.scheduledExecutorService.scheduleAtFixedRate(req, func(ctx context.Context) { l.keepAliveOnce(ctx, req, granted.ID) }, period)

	var lockResponse *v3lockpb.LockResponse
	if err := env.Wait(ctx, req, "lock", func(ctx context.Context) error {
		lockResponse, err = l.lockRPC(ctx, req, granted.ID)
		return err
	}); err != nil {
		return err
	}
	l.lockPath = lockResponse.Key
	l.data = &lockData{lockCount: 1, leaseID: granted.ID, service: l.scheduledExecutorService, lockSuccess: true}
	return nil
}

// lockRPC is jetcd's lock(…).get().
func (l *etcdDistributedLock) lockRPC(ctx context.Context, req lb.Request, lease clientv3.LeaseID) (*v3lockpb.LockResponse, error) {
	const retryDelay = 500 * time.Millisecond
	for {
		resp, err := l.lockClient.Lock(ctx, &v3lockpb.LockRequest{Name: []byte(l.lockKey), Lease: int64(lease)})
		if status.Code(err) != codes.Unavailable {
			return resp, err
		}
		if err := l.c.env.Sleep(ctx, req, lb.RetryDelay, retryDelay); err != nil {
			return nil, err
		}
	}
}

// keepAliveOnce does not wait for the answer, and nobody looks at it.
func (l *etcdDistributedLock) keepAliveOnce(ctx context.Context, req lb.Request, lease clientv3.LeaseID) {
	l.c.env.Go(ctx, lb.Renewal, func(ctx context.Context) {
		ctx, cancel := l.c.env.WithTimeout(etcd.For(ctx, req), l.leaseTTL)
		defer cancel()
		_, _ = l.c.etcd.KeepAliveOnce(ctx, lease)
	})
}

var errIllegalMonitorState = fmt.Errorf("IllegalMonitorStateException: the thread has not got the lock: %w", lb.ErrLost)

func (l *etcdDistributedLock) unlock(ctx context.Context, req lb.Request) error {
	if l.data == nil {
		return errIllegalMonitorState
	}
	l.data.lockCount--
	if l.data.lockCount > 0 {
		return nil
	}
	if err := l.unlockBlock(ctx, req); err != nil {
		fmt.Fprintln(os.Stderr, "published-001-jetcd: LOGGER.error:", err) // and unlock() returns
	}
	l.data = nil // finally
	return nil
}

func (l *etcdDistributedLock) unlockBlock(ctx context.Context, req lb.Request) error {
	if l.lockPath != nil {
		if _, err := l.lockClient.Unlock(etcd.For(ctx, req), &v3lockpb.UnlockRequest{Key: l.lockPath}); err != nil {
			return err // the task that keeps the lease alive goes on
		}
	}
	l.data.service.shutdown()
	if lease := l.data.leaseID; lease != 0 { // the revocation's future is not waited for
		l.c.env.Go(l.c.alive, lb.CleanUp, func(ctx context.Context) { _, _ = l.c.etcd.Revoke(etcd.For(ctx, req), lease) })
	}
	return nil
}

// scheduler is as much of Java's ScheduledExecutorService as the listing uses.
type scheduler struct {
	env     *lb.Env
	alive   context.Context // until the program ends
	running context.Context // until shutdown
	stop    context.CancelFunc
}

func newSingleThreadScheduledExecutor(ctx context.Context, env *lb.Env) *scheduler {
	running, stop := context.WithCancel(ctx)
	return &scheduler{env: env, alive: ctx, running: running, stop: stop}
}

// scheduleAtFixedRate runs task at once and then every period.
func (s *scheduler) scheduleAtFixedRate(req lb.Request, task func(context.Context), period time.Duration) {
	s.env.Go(s.running, lb.Renewal, func(ctx context.Context) {
		for ok := true; ok; ok = !errors.Is(s.env.Sleep(ctx, req, "renewal", period), context.Canceled) {
			task(s.alive)
		}
	})
}

func (s *scheduler) shutdown() { s.stop() }
