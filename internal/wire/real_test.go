package wire_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
	goredis "github.com/redis/go-redis/v9"
	etcd "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// relayTo stands before the first server of a topology.
func relayTo(t *testing.T, l wire.Language, topology string) *wiretest.Relay {
	t.Helper()
	return wiretest.NewRelay(t, l, labtest.Endpoints(labtest.Servers(t, topology))[0])
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestRealRedis(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := relayTo(t, wire.Redis, "redis"), t.Context()
	for _, protocol := range []int{2, 3} {
		c := goredis.NewClient(&goredis.Options{Addr: r.Addr, Protocol: protocol})
		key := fmt.Sprint("key", protocol)
		must(t, c.Ping(ctx).Err())
		r.Want(t, "")
		must(t, c.SetNX(ctx, key, 1, 0).Err(), c.SetNX(ctx, key, 1, 0).Err())
		r.Want(t, "set set =set =set!")
		must(t, c.Eval(ctx, "return {1, {redis.call('GET', KEYS[1])}}", []string{key}).Err())
		r.Want(t, "eval =eval")
		if err := c.EvalSha(ctx, strings.Repeat("0", 40), nil).Err(); err == nil {
			t.Error("there is no such script")
		}
		r.Want(t, "evalsha =evalsha!")
		_, err := c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			p.Incr(ctx, key)
			return p.Del(ctx, key).Err()
		})
		must(t, err)
		r.Want(t, "exec =exec")
		_, err = c.Pipelined(ctx, func(p goredis.Pipeliner) error {
			return errors.Join(p.HSet(ctx, key, "a", 1).Err(), p.HGetAll(ctx, key).Err())
		})
		must(t, err)
		r.Want(t, "hset hgetall =hset =hgetall")
		p := c.Subscribe(ctx, "a", "b")
		for range 2 {
			_, err = p.Receive(ctx)
			must(t, err)
		}
		must(t, c.Publish(ctx, "b", "hello").Err())
		_, err = p.ReceiveMessage(ctx)
		must(t, err, p.Unsubscribe(ctx))
		for range 2 {
			_, err = p.Receive(ctx)
			must(t, err)
		}
		r.Want(t, "subscribe publish unsubscribe =subscribe =publish =unsubscribe")
		must(t, p.Close(), c.Close())
	}
}

func TestRealEtcd(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := relayTo(t, wire.Etcd, "etcd"), t.Context()
	c, err := etcd.New(etcd.Config{Endpoints: []string{r.Addr}, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
	must(t, err)
	defer c.Close()
	lease, err := c.Grant(ctx, 60)
	must(t, err)
	r.Want(t, fmt.Sprintf("grant =grant(%x)", lease.ID))
	_, err = c.Put(ctx, "key", strings.Repeat("x", 100<<10), etcd.WithLease(lease.ID))
	must(t, err)
	_, err = c.Get(ctx, "key")
	must(t, err)
	r.Want(t, "put get =put =get")
	txn := func(revision int64) {
		_, err := c.Txn(ctx).If(etcd.Compare(etcd.CreateRevision("key"), "=", revision)).Then(etcd.OpGet("key")).Commit()
		must(t, err)
	}
	txn(0)
	r.Want(t, "txn =txn!")
	watching, stop := context.WithCancel(ctx)
	<-c.Watch(ctx, "other", etcd.WithCreatedNotify())
	events := c.Watch(watching, "key", etcd.WithCreatedNotify())
	<-events
	_, err = c.Delete(ctx, "key")
	must(t, err)
	<-events
	r.Want(t, "watch watch delete =watch =watch =delete")
	stop()
	r.Want(t, "unwatch =unwatch")
	txn(0)
	r.Want(t, "txn =txn")
	_, err = c.KeepAliveOnce(ctx, lease.ID)
	must(t, err)
	r.Want(t, "keep-alive~ =keep-alive~")
	_, err = c.Revoke(ctx, lease.ID)
	must(t, err)
	r.Want(t, "revoke =revoke")
	if _, err = c.Revoke(ctx, lease.ID); err == nil {
		t.Error("a lease was revoked twice")
	}
	r.Want(t, "revoke =revoke!")
	if _, err = c.KeepAliveOnce(ctx, lease.ID); err == nil {
		t.Error("a lease lives that was revoked")
	}
	r.Want(t, "keep-alive~ =keep-alive~!")
}
