package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/backends/etcd"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestRealEtcd(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := wiretest.NewRelay(t, etcd.Language, labtest.Endpoints(labtest.Servers(t, "etcd"))[0]), t.Context()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{r.Addr}, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
	must(t, err)
	defer c.Close()
	lease, err := c.Grant(ctx, 60)
	must(t, err)
	r.Want(t, fmt.Sprintf("grant =grant(%x)", lease.ID))
	_, err = c.Put(ctx, "key", strings.Repeat("x", 100<<10), clientv3.WithLease(lease.ID))
	must(t, err)
	_, err = c.Get(ctx, "key")
	must(t, err)
	r.Want(t, "put get =put =get")
	txn := func(revision int64) {
		_, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision("key"), "=", revision)).Then(clientv3.OpGet("key")).Commit()
		must(t, err)
	}
	txn(0)
	r.Want(t, "txn =txn!")
	watching, stop := context.WithCancel(ctx)
	<-c.Watch(ctx, "other", clientv3.WithCreatedNotify())
	events := c.Watch(watching, "key", clientv3.WithCreatedNotify())
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
