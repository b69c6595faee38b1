package mutants_test

import (
	"context"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/none"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/internal/testkit/mutants"
)

func TestMain(m *testing.M) { mutants.Main(m, broken()) }

// TestMutants: each workload convicts, in its own words, a lock that is wrong for it, or
// is the trap itself; and acquits a correct one.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants.Run(t, broken())
}

func broken() []mutants.Mutant {
	lua := redis.SetPXLua
	return []mutants.Mutant{
		mutants.New(redis.SetPXDel(), lua(), "pause-holder", "oversold by", lb.Broken).Doing("stock"),
		mutants.New(none.New(), lua(), "none", "oversold by", lb.Broken).Doing("stock-many"),
		mutants.New(none.New(), lua(), "none", "task-", lb.Broken).Doing("once"),
		// Without a lock a task runs twice, and with the key it does not.
		mutants.New(named{none.New(), "none-without-a-key"}, named{none.New(), "none-with-a-key"}, "none", "task-", lb.Broken).Doing("once").Beside("once-key"),
		// Without a lock two look at the same record.
		mutants.New(none.New(), lua(), "none", "drawn", lb.Broken).Doing("reward-record"),
		mutants.New(none.New(), lua(), "none", "in all accounts", lb.Broken).Doing("transfer").Or("a transfer is lost"),
		mutants.New(named{lua(), "in-no-order"}, lua(), "none", lb.Deadlock, lb.Stuck, lb.Broken).Doing("transfer-unordered").Beside("transfer"),
		mutants.New(wrapped{named{redis.ReadWrite(), "all-may-read"}, everybodyReads}, redis.ReadWrite(), "none", "when it looked again", lb.Broken).Doing("readers"),
		// It is a lock, but no reentrant one: who acquires again waits for itself.
		mutants.New(named{lua(), "waits-for-itself"}, redis.Reentrant(), "none", lb.Deadlock, lb.Stuck, lb.Broken).Doing("reentrant"),
		// What is forgotten stays taken where the holder's process renews it.
		mutants.New(named{redis.Watchdog(), "renewed-for-ever"}, lua(), "none", lb.Ghost, lb.Stuck).Doing("never-releases"),
		// Without a lock an update is lost, and with a version column it is not.
		mutants.New(named{none.New(), "none-without-a-version"}, named{none.New(), "none-with-a-version"}, "none", lb.DoubleGrant, lb.Broken).Doing("counter").Beside("counter-cas"),
		mutants.New(wrapped{named{lua(), "does-not-count"}, remembers}, redis.Reentrant(), "none", "gave back one of its two holds", lb.Broken).Doing("reentrant"),
	}
}

// named is a lock under another name, which claims to have all modes and promises nothing.
type named struct {
	lb.Impl
	name string
}

func (n named) Info() lb.Info {
	info := n.Impl.Info()
	info.Name, info.Expect, info.Traits.Reentrant = n.name, nil, true
	return info
}

// wrapped is a lock with a client of its own.
type wrapped struct {
	lb.Impl
	wrap func(lb.Client, *lb.Env) lb.Client
}

func (w wrapped) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := w.Impl.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return w.wrap(c, env), nil
}

// everybodyReads takes a read lock for writers, too.
func everybodyReads(c lb.Client, _ *lb.Env) lb.Client { return reader{c} }

type reader struct{ lb.Client }

func (r reader) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	asked := req
	asked.Shared = true
	lease, err := r.Client.Acquire(ctx, asked)
	if err == nil {
		lease.Request = req
	}
	return lease, err
}

// remembers lets a client in that has the lock, and gives the lock back with the first
// release.
func remembers(c lb.Client, env *lb.Env) lb.Client { return &flag{Client: c, env: env} }

type flag struct {
	lb.Client
	env  *lb.Env
	held *lb.Lease
}

func (f *flag) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	if f.held != nil {
		return f.env.Grant(req, 0, f.held.Until()), nil
	}
	lease, err := f.Client.Acquire(ctx, req)
	if err == nil {
		f.held = lease
	}
	return lease, err
}

func (f *flag) Release(ctx context.Context, req lb.Request) error {
	if f.held == nil {
		return f.Client.Release(ctx, req)
	}
	outer := f.held.Request
	f.held = nil
	return f.Client.Release(ctx, outer)
}
