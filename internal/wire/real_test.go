package wire_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"
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

func TestRealZooKeeper(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r := relayTo(t, wire.ZooKeeper, "zookeeper")
	c, events, err := zk.Connect([]string{r.Addr}, 3*time.Second, zk.WithLogger(quiet{}))
	must(t, err)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	name := strings.Trim(r.Notes(), "()")
	r.Forget()
	if id, password, _ := strings.Cut(name, ":"); id != fmt.Sprintf("%x", c.SessionID()) || len(password) != 32 {
		t.Errorf("the session is %q, want %x and 16 bytes", name, c.SessionID())
	}
	_, err = c.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	must(t, err)
	r.Want(t, "create =create")
	if _, err = c.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrNodeExists) {
		t.Error(err)
	}
	r.Want(t, "create =create!")
	_, _, _, err = c.ExistsW("/a")
	must(t, err)
	_, _, err = c.Children("/")
	must(t, err, c.Delete("/a", -1))
	r.Want(t, "exists children delete =exists =children =delete")
	r.Want(t, "ping~ =ping~")
	c.Close()
	r.Want(t, "close =close")
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

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

func TestRealMySQL(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := relayTo(t, wire.MySQL, "mariadb"), t.Context()
	db, err := sql.Open("mysql", "lockbench@tcp("+r.Addr+")/lockbench")
	must(t, err)
	defer db.Close()
	c, err := db.Conn(ctx)
	must(t, err)
	exec := func(statement string, args ...any) error {
		_, err := c.ExecContext(ctx, statement, args...)
		return err
	}
	must(t, exec("SET @a = 1"))
	r.Want(t, "")
	must(t, c.PingContext(ctx))
	r.Want(t, "ping~ =ping~")
	must(t, exec("CREATE TABLE IF NOT EXISTS u (a int)"), exec("create table t (a int primary key)"), exec("INSERT INTO t VALUES (?)", 1))
	r.Want(t, "create create prepare execute =create =create =prepare =execute")
	if err := exec("INSERT INTO t VALUES (1)"); err == nil {
		t.Error("a key was taken twice")
	}
	r.Want(t, "insert =insert!")
	var n int
	must(t, c.QueryRowContext(ctx, "/* a test */ SELECT COUNT(*) FROM t, information_schema.columns").Scan(&n))
	rows, err := c.QueryContext(ctx, "SELECT 1 FROM information_schema.columns LIMIT 1000") // numbers of packets begin again
	must(t, err)
	for rows.Next() {
		must(t, rows.Scan(&n))
	}
	must(t, rows.Close(), exec("USE lockbench"))
	r.Want(t, "select select use =select =select =use")
	must(t, c.Close())
	r.Want(t, "")
}
