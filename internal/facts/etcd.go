package facts

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"go.uber.org/zap"
)

func etcdQuestions() []Question {
	return []Question{
		{Name: "etcd-counts", Asks: "at what etcd's counts of changes begin", Topology: topology("etcd"), ask: counts},
		{Name: "etcd-waiting", Asks: "what becomes of a waiter whose lease is shorter than its wait, and of the one behind it", Topology: topology("etcd"), ask: waiting},
	}
}

func connect(at bench) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: at.endpoints(), DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
}

func counts(ctx context.Context, at bench) (found []Fact, err error) {
	c, err := connect(at)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	empty, err := c.Get(ctx, "facts", clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	var versions [2]int64
	for i := range versions {
		if _, err := c.Put(ctx, "facts", "1"); err != nil {
			return nil, err
		}
		got, err := c.Get(ctx, "facts")
		if err != nil {
			return nil, err
		}
		versions[i] = got.Kvs[0].Version
		if _, err := c.Delete(ctx, "facts"); err != nil {
			return nil, err
		}
	}
	begins := empty.Header.Revision
	v2, err := hasV2(ctx, at.endpoints()[0])
	if err != nil {
		return nil, err
	}
	return []Fact{
		v2,
		{"store-begins-at-zero", begins == 0, fmt.Sprintf("an empty store has revision %d", begins)},
		{"key-begins-at-one", versions[0] == 1 && versions[1] == 1, fmt.Sprintf("a new key has version %d, and %d when it was deleted and made again", versions[0], versions[1])},
	}, nil
}

// hasV2 is whether something can be written by the old API.
func hasV2(ctx context.Context, endpoint string) (f Fact, err error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+endpoint+"/v2/keys/facts", strings.NewReader("value=1"))
	if err != nil {
		return f, err
	}
	ask.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return f, err
	}
	defer answer.Body.Close()
	return Fact{"has-the-api-of-v2", answer.StatusCode < http.StatusBadRequest, "a write by the API of v2 is answered with " + answer.Status}, nil
}

const (
	// shortLease is that of the waiter, in seconds, and longHold how long it has to wait.
	shortLease = 1
	longHold   = 4 * shortLease * time.Second
)

// waiting has one hold etcd's own lock while two wait, of whom one renews its lease.
func waiting(ctx context.Context, at bench) (found []Fact, err error) {
	c, err := connect(at)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, renews := range []bool{false, true} {
		f, err := waiter(ctx, c, renews)
		if err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	f, err := behind(ctx, c)
	return append(found, f), err
}

// waiter is whether one who waits for longer than its lease gets the lock.
func waiter(ctx context.Context, c *clientv3.Client, renews bool) (f Fact, err error) {
	name, who := "unrenewed", "does not renew its lease"
	if renews {
		name, who = "renewed", "renews its lease"
	}
	held, err := concurrency.NewSession(c)
	if err != nil {
		return f, err
	}
	defer held.Close()
	lock := concurrency.NewMutex(held, "facts-"+name)
	if err := lock.Lock(ctx); err != nil {
		return f, err
	}
	lease, err := c.Grant(ctx, shortLease)
	if err != nil {
		return f, err
	}
	waits, stop := context.WithCancel(ctx)
	defer stop()
	if renews {
		answers, err := c.KeepAlive(waits, lease.ID)
		if err != nil {
			return f, err
		}
		go func() {
			for range answers {
			}
		}()
	}
	type grant struct {
		at  time.Time
		err error
	}
	granted := make(chan grant, 1)
	go func() {
		_, err := v3lockpb.NewLockClient(c.ActiveConnection()).Lock(waits, &v3lockpb.LockRequest{Name: []byte("facts-" + name), Lease: int64(lease.ID)})
		granted <- grant{time.Now(), err}
	}()
	if err := sleep(ctx, longHold); err != nil {
		return f, err
	}
	queue, err := c.Get(ctx, "facts-"+name+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return f, err
	}
	if err := lock.Unlock(ctx); err != nil {
		return f, err
	}
	select {
	case g := <-granted:
		f = Fact{name + "-waiter-gets-the-lock", g.err == nil,
			fmt.Sprintf("a waiter with a lease of %d s that %s, and a lock that is held for %v: its key %s before the lock is free, and its request is %s",
				shortLease, who, longHold, isThere(queue.Count == 2), outcome(g.err))}
		return f, nil
	case <-ctx.Done():
		return f, ctx.Err()
	}
}

// behind is whether who sees the deletion of the key before its own has the lock.
func behind(ctx context.Context, c *clientv3.Client) (f Fact, err error) {
	var keys []string
	var leases []clientv3.LeaseID
	for i := range 3 {
		lease, err := c.Grant(ctx, 60)
		if err != nil {
			return f, err
		}
		key := fmt.Sprintf("queue/%d", i)
		if _, err := c.Put(ctx, key, "", clientv3.WithLease(lease.ID)); err != nil {
			return f, err
		}
		keys, leases = append(keys, key), append(leases, lease.ID)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	hears := c.Watch(watching, keys[1], clientv3.WithFilterPut(), clientv3.WithCreatedNotify())
	<-hears // it is watched
	if _, err := c.Revoke(ctx, leases[1]); err != nil {
		return f, err
	}
	if told := <-hears; told.Err() != nil || len(told.Events) == 0 {
		return f, fmt.Errorf("the deletion of a key was not told: %w", told.Err())
	}
	holder, err := c.Get(ctx, keys[0])
	if err != nil {
		return f, err
	}
	return Fact{"next-is-gone-means-mine", holder.Count == 0,
		fmt.Sprintf("the waiter in the middle of a queue of three went; when the third is told so, the key of the holder %s", isThere(holder.Count > 0))}, nil
}
