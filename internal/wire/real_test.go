package wire

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	goredis "github.com/redis/go-redis/v9"
	etcd "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// relay passes on what the connections to a real server say, message by message, and
// keeps it.
type relay struct {
	addr string

	mu    sync.Mutex
	heard []heard
}

func newRelay(t *testing.T, topology string) *relay {
	t.Helper()
	upstream := labtest.Endpoints(labtest.Servers(t, topology))[0]
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	r := &relay{addr: l.Addr().String()}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", upstream)
			if err != nil {
				return
			}
			var c Conn
			go r.pass(client, to, from, c.Said)
			go r.pass(server, from, to, c.Answered)
		}
	}()
	return r
}

func (r *relay) pass(who side, to, from net.Conn, read func([]byte) []Message) {
	defer to.Close()
	for b := make([]byte, 16<<10); ; {
		n, err := from.Read(b)
		for _, m := range read(b[:n]) {
			r.mu.Lock()
			r.heard = append(r.heard, heard{who, m})
			r.mu.Unlock()
			if _, err := to.Write(m.Bytes); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// want compares what is heard since the last time, which may take a moment. Pings come when
// they come, also where nobody wants them.
func (r *relay) want(t *testing.T, want string) {
	t.Helper()
	var got string
	for range 250 {
		time.Sleep(20 * time.Millisecond)
		got = r.notes()
		if !strings.Contains(want, "ping") {
			got = strings.Join(slices.DeleteFunc(strings.Fields(got), func(s string) bool { return s == "ping~" || s == "=ping~" }), " ")
		}
		if got == want {
			break
		}
	}
	if got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	r.forget()
}

// notes are first those of the client, since the two sides are heard apart.
func (r *relay) notes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.heard, func(a, b heard) int { return int(a.who) - int(b.who) })
	return notes(r.heard)
}

func (r *relay) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = nil
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
	r, ctx := newRelay(t, "redis"), t.Context()
	for _, protocol := range []int{2, 3} {
		c := goredis.NewClient(&goredis.Options{Addr: r.addr, Protocol: protocol})
		key := fmt.Sprint("key", protocol)
		must(t, c.Ping(ctx).Err())
		r.want(t, "")
		must(t, c.SetNX(ctx, key, 1, 0).Err(), c.SetNX(ctx, key, 1, 0).Err())
		r.want(t, "set set =set =set!")
		must(t, c.Eval(ctx, "return {1, {redis.call('GET', KEYS[1])}}", []string{key}).Err())
		r.want(t, "eval =eval")
		if err := c.EvalSha(ctx, strings.Repeat("0", 40), nil).Err(); err == nil {
			t.Error("there is no such script")
		}
		r.want(t, "evalsha =evalsha!")
		_, err := c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
			p.Incr(ctx, key)
			return p.Del(ctx, key).Err()
		})
		must(t, err)
		r.want(t, "exec =exec")
		_, err = c.Pipelined(ctx, func(p goredis.Pipeliner) error {
			return errors.Join(p.HSet(ctx, key, "a", 1).Err(), p.HGetAll(ctx, key).Err())
		})
		must(t, err)
		r.want(t, "hset hgetall =hset =hgetall")
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
		r.want(t, "subscribe publish unsubscribe =subscribe =publish =unsubscribe")
		must(t, p.Close(), c.Close())
	}
}

func TestRealZooKeeper(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r := newRelay(t, "zookeeper")
	c, events, err := zk.Connect([]string{r.addr}, 3*time.Second, zk.WithLogger(quiet{}))
	must(t, err)
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	name := strings.Trim(r.notes(), "()")
	r.forget()
	if id, password, _ := strings.Cut(name, ":"); id != fmt.Sprintf("%x", c.SessionID()) || len(password) != 32 {
		t.Errorf("the session is %q, want %x and 16 bytes", name, c.SessionID())
	}
	_, err = c.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	must(t, err)
	r.want(t, "create =create")
	if _, err = c.Create("/a", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrNodeExists) {
		t.Error(err)
	}
	r.want(t, "create =create!")
	_, _, _, err = c.ExistsW("/a")
	must(t, err)
	_, _, err = c.Children("/")
	must(t, err, c.Delete("/a", -1))
	r.want(t, "exists children delete =exists =children =delete")
	r.want(t, "ping~ =ping~")
	c.Close()
	r.want(t, "close =close")
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func TestRealEtcd(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := newRelay(t, "etcd"), t.Context()
	c, err := etcd.New(etcd.Config{Endpoints: []string{r.addr}, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
	must(t, err)
	defer c.Close()
	lease, err := c.Grant(ctx, 60)
	must(t, err)
	r.want(t, fmt.Sprintf("grant =grant(%x)", lease.ID))
	_, err = c.Put(ctx, "key", strings.Repeat("x", 100<<10), etcd.WithLease(lease.ID))
	must(t, err)
	_, err = c.Get(ctx, "key")
	must(t, err)
	r.want(t, "put get =put =get")
	txn := func(revision int64) {
		_, err := c.Txn(ctx).If(etcd.Compare(etcd.CreateRevision("key"), "=", revision)).Then(etcd.OpGet("key")).Commit()
		must(t, err)
	}
	txn(0)
	r.want(t, "txn =txn!")
	watching, stop := context.WithCancel(ctx)
	<-c.Watch(ctx, "other", etcd.WithCreatedNotify())
	events := c.Watch(watching, "key", etcd.WithCreatedNotify())
	<-events
	_, err = c.Delete(ctx, "key")
	must(t, err)
	<-events
	r.want(t, "watch watch delete =watch =watch =delete")
	stop()
	r.want(t, "unwatch =unwatch")
	txn(0)
	r.want(t, "txn =txn")
	_, err = c.KeepAliveOnce(ctx, lease.ID)
	must(t, err)
	r.want(t, "keep-alive~ =keep-alive~")
	_, err = c.Revoke(ctx, lease.ID)
	must(t, err)
	r.want(t, "revoke =revoke")
	if _, err = c.Revoke(ctx, lease.ID); err == nil {
		t.Error("a lease was revoked twice")
	}
	r.want(t, "revoke =revoke!")
	if _, err = c.KeepAliveOnce(ctx, lease.ID); err == nil {
		t.Error("a lease lives that was revoked")
	}
	r.want(t, "keep-alive~ =keep-alive~!")
}

func TestRealMySQL(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := newRelay(t, "mariadb"), t.Context()
	db, err := sql.Open("mysql", "lockbench@tcp("+r.addr+")/lockbench")
	must(t, err)
	defer db.Close()
	c, err := db.Conn(ctx)
	must(t, err)
	exec := func(statement string, args ...any) error {
		_, err := c.ExecContext(ctx, statement, args...)
		return err
	}
	must(t, exec("SET @a = 1"))
	r.want(t, "")
	must(t, c.PingContext(ctx))
	r.want(t, "ping~ =ping~")
	must(t, exec("CREATE TABLE IF NOT EXISTS u (a int)"), exec("create table t (a int primary key)"), exec("INSERT INTO t VALUES (?)", 1))
	r.want(t, "create create prepare execute =create =create =prepare =execute")
	if err := exec("INSERT INTO t VALUES (1)"); err == nil {
		t.Error("a key was taken twice")
	}
	r.want(t, "insert =insert!")
	var n int
	must(t, c.QueryRowContext(ctx, "/* a test */ SELECT COUNT(*) FROM t, information_schema.columns").Scan(&n))
	rows, err := c.QueryContext(ctx, "SELECT 1 FROM information_schema.columns LIMIT 1000") // numbers of packets begin again
	must(t, err)
	for rows.Next() {
		must(t, rows.Scan(&n))
	}
	must(t, rows.Close(), exec("USE lockbench"))
	r.want(t, "select select use =select =select =use")
	must(t, c.Close())
	r.want(t, "")
}
