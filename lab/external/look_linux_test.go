package external

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

func TestMain(m *testing.M) { labtest.Main(m) }

const secret = "correct-horse"

// kind of the servers of a topology.
func kind(t *testing.T, topology string) lab.Kind {
	t.Helper()
	for _, top := range backends.Topologies() {
		if top.Name == topology {
			testkit.Need(t, topology, top.Kind.Missing())
			return top.Kind
		}
	}
	t.Fatalf("no topology %s", topology)
	return lab.Kind{}
}

// file is one of --addrs.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lab.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func tlsOf(c labtest.Certs) string {
	return fmt.Sprintf("tls: {ca: %s, server-name: %s}\n", c.CA, labtest.CertName)
}

// ready looks at the servers, which must take no longer than the deadline, and leaves nothing
// there. wants is in the error, "" for none; the secret never is.
func ready(t *testing.T, k lab.Kind, text, wants string) {
	t.Helper()
	c, err := read(file(t, text))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	err = c.Ready(t.Context(), k)
	if took := time.Since(begun); took > lookBound+2*time.Second {
		t.Errorf("it took %v", took)
	}
	if wants == "" && err != nil || wants != "" && (err == nil || !strings.Contains(err.Error(), wants)) {
		t.Errorf("%v, want %q", err, wants)
	}
	if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n")) {
		t.Errorf("not a line without secrets: %v", err)
	}
}

func redisServer(t *testing.T, options ...string) lab.Process {
	t.Helper()
	kind(t, "redis")
	return labtest.Start(t, lab.Program{Argv: append([]string{"redis-server", "--bind", "{addr}", "--save", "", "--dir", "{dir}", "--protected-mode", "no"}, options...),
		Port: 6379, Ready: lab.Listening})
}

func tlsRedis(t *testing.T, c labtest.Certs, clients string) lab.Process {
	t.Helper()
	return redisServer(t, "--port", "0", "--tls-port", "{port}", "--tls-cert-file", c.Cert, "--tls-key-file", c.Key, "--tls-ca-cert-file", c.CA, "--tls-auth-clients", clients)
}

// TestRedis: what is wrong with a server is said in one line.
func TestRedis(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	k := kind(t, "redis")
	plain := redisServer(t, "--port", "{port}").Endpoint()
	locked := redisServer(t, "--port", "{port}", "--requirepass", secret).Endpoint()
	certs, others := labtest.NewCerts(t), labtest.NewCerts(t)
	safe, strict := tlsRedis(t, certs, "no").Endpoint(), tlsRedis(t, certs, "yes").Endpoint()
	own := fmt.Sprintf("tls: {ca: %s, cert: %s, key: %s, server-name: %s}\n", certs.CA, certs.Cert, certs.Key, labtest.CertName)
	for _, tc := range []struct{ name, addr, how, wants string }{
		{"open", plain, "", ""},
		{"a password", locked, "password: " + secret + "\n", ""},
		{"no password", locked, "", "LOCKBENCH_PASSWORD"},
		{"a wrong password", locked, "password: wrong\n", "WRONGPASS"},
		{"a user that is not there", locked, "user: nobody\npassword: " + secret + "\n", "WRONGPASS"},
		{"TLS", safe, tlsOf(certs), ""},
		{"TLS with a certificate of one's own", strict, own, ""},
		{"no TLS where there is", safe, "", "it speaks TLS"},
		{"TLS where there is none", plain, tlsOf(certs), "TLS fails"},
		{"another authority", safe, tlsOf(others), "unknown authority"},
		{"another name", safe, "tls: {ca: " + certs.CA + "}\n", "TLS fails"},
		{"no certificate", strict, tlsOf(certs), "TLS fails"},
		{"nobody there", "127.0.0.1:1", "", "connection refused"},
	} {
		t.Run(tc.name, func(t *testing.T) { ready(t, k, "servers: ["+tc.addr+"]\n"+tc.how, tc.wants) })
	}
}

// TestHangs: a server that does not answer is waited for for so long, and no longer.
func TestHangs(t *testing.T) {
	t.Parallel()
	for _, topology := range []string{"redis", "etcd", "zookeeper", "mariadb"} {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, 1)
			server := labtest.Servers(t, topology)[0]
			if err := server.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			ready(t, kind(t, topology), "servers: ["+server.Endpoint()+"]\n", "does it hang")
		})
	}
}

// TestOther: a server of another kind is no server.
func TestOther(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	other := labtest.Servers(t, "redis")[0].Endpoint()
	for _, topology := range []string{"etcd", "zookeeper", "mariadb"} {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			ready(t, kind(t, topology), "servers: ["+other+"]\n", topology+" at "+other)
		})
	}
}

// TestFullDisk: a server that lets us in, and takes no writes.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	t.Run("redis", func(t *testing.T) {
		if os.Geteuid() != 0 {
			testkit.Need(t, "a small disk", errors.New("only root can mount one"))
		}
		dir := t.TempDir()
		if err := syscall.Mount("small", dir, "tmpfs", 0, "size=64k"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		server := redisServer(t, "--port", "{port}", "--dir", dir, "--appendonly", "yes", "--appendfsync", "everysec")
		c := redis.NewClient(&redis.Options{Addr: server.Endpoint(), MaxRetries: -1, ReadTimeout: 20 * time.Second})
		defer c.Close()
		if err := c.Ping(t.Context()).Err(); err != nil { // one that listens may have no file of its own yet
			t.Fatal(err)
		}
		rest, err := os.Create(filepath.Join(dir, "rest"))
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = rest.Write(make([]byte, 4096))
		}
		rest.Close()
		// What is logged beside it may still fit into a page.
		for range 100 {
			_ = c.Set(t.Context(), "other", strings.Repeat("x", 4096), 0)
		}
		ready(t, kind(t, "redis"), "servers: ["+server.Endpoint()+"]\n", "make room")
	})
	t.Run("etcd", func(t *testing.T) {
		top, _ := backends.Topology("etcd")
		top, err := top.With(lab.Own{Options: []string{"quota-backend-bytes=1"}})
		if err != nil {
			t.Fatal(err)
		}
		ready(t, kind(t, "etcd"), "servers: ["+labtest.ServersOf(t, top)[0].Endpoint()+"]\n", "make room")
	})
}

// TestEtcd: users and TLS.
func TestEtcd(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	k, certs := kind(t, "etcd"), labtest.NewCerts(t)
	server := labtest.Start(t, lab.Program{Builtin: true, Argv: []string{"etcd", "--data-dir", "{dir}", "--listen-client-urls", "https://{addr}:{port}",
		"--advertise-client-urls", "https://{addr}:{port}", "--listen-peer-urls", "http://{addr}:2380", "--initial-advertise-peer-urls", "http://{addr}:2380",
		"--initial-cluster", "default=http://{addr}:2380", "--cert-file", certs.Cert, "--key-file", certs.Key}, Port: 2379, Ready: lab.Listening})
	addr := "servers: [" + server.Endpoint() + "]\n" + tlsOf(certs)
	ready(t, k, addr, "")
	ready(t, k, "servers: ["+server.Endpoint()+"]\n", "it speaks TLS")
	c, err := read(file(t, addr))
	if err != nil {
		t.Fatal(err)
	}
	trusting := c.tls.Clone()
	trusting.InsecureSkipVerify = true // the library wants its address in the certificate
	root, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + server.Endpoint()}, TLS: trusting, Logger: zap.NewNop(), DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, e1 := root.UserAdd(ctx, "root", secret)
	_, e2 := root.UserGrantRole(ctx, "root", "root")
	_, e3 := root.RoleAdd(ctx, "bench")
	_, e4 := root.RoleGrantPermission(ctx, "bench", "lockbench", clientv3.GetPrefixRangeEnd("lockbench"), clientv3.PermissionType(clientv3.PermReadWrite))
	_, e5 := root.UserAdd(ctx, "app", secret)
	_, e6 := root.UserGrantRole(ctx, "app", "bench")
	_, e7 := root.AuthEnable(ctx)
	if err := errors.Join(e1, e2, e3, e4, e5, e6, e7); err != nil {
		t.Fatal(err)
	}
	ready(t, k, addr+"user: app\npassword: "+secret+"\n", "")
	ready(t, k, addr+"user: app\npassword: wrong\n", "LOCKBENCH_PASSWORD")
	ready(t, k, addr, "LOCKBENCH_PASSWORD")

	// A client that knows of no users has what its user may have, and hears what not.
	plain := etcdAt(t, served(t, k, addr+"user: app\npassword: "+secret+"\n"))
	defer plain.Close()
	if _, err := plain.Put(ctx, "lockbench:x", "1"); err != nil {
		t.Error(err)
	}
	if _, err := plain.Put(ctx, "other", "1"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("what is not its user's: %v", err)
	}
	heard := plain.Watch(ctx, "lockbench:x")
	if _, err := plain.Put(ctx, "lockbench:x", "2"); err != nil {
		t.Error(err)
	}
	if w := <-heard; w.Err() != nil || len(w.Events) != 1 {
		t.Errorf("%v, %v", w.Events, w.Err())
	}
}

// TestEtcdCertificates: clients that show who they are by a certificate.
func TestEtcdCertificates(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	k, c := kind(t, "etcd"), labtest.NewCerts(t)
	server := labtest.Start(t, lab.Program{Builtin: true, Argv: []string{"etcd", "--data-dir", "{dir}", "--listen-client-urls", "https://{addr}:{port}",
		"--advertise-client-urls", "https://{addr}:{port}", "--listen-peer-urls", "http://{addr}:2380", "--initial-advertise-peer-urls", "http://{addr}:2380",
		"--initial-cluster", "default=http://{addr}:2380", "--cert-file", c.Cert, "--key-file", c.Key, "--trusted-ca-file", c.CA, "--client-cert-auth"},
		Port: 2379, Ready: lab.Listening})
	addr := "servers: [" + server.Endpoint() + "]\n"
	ready(t, k, addr+fmt.Sprintf("tls: {ca: %s, cert: %s, key: %s, server-name: %s}\n", c.CA, c.Cert, c.Key, labtest.CertName), "")
	ready(t, k, addr+tlsOf(c), "TLS fails")
}

// served is where a relay to the first of the servers listens.
func served(t *testing.T, k lab.Kind, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	addrs := file(t, text)
	go func() { _ = Serve(addrs, k, l) }()
	return l.Addr().String()
}

// TestMySQL: an account of one's own, with TLS and without.
func TestMySQL(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	k, certs := kind(t, "mariadb"), labtest.NewCerts(t)
	top, _ := backends.Topology("mariadb")
	top, err := top.With(lab.Own{Options: []string{"ssl-cert=" + certs.Cert, "ssl-key=" + certs.Key, "ssl-ca=" + certs.CA}})
	if err != nil {
		t.Fatal(err)
	}
	server := labtest.ServersOf(t, top)[0].Endpoint()
	makeAccounts(t, server)
	addr := "servers: [" + server + "]\ndatabase: benches\npassword: " + secret + "\n"
	ready(t, k, addr+"user: app\n", "")
	ready(t, k, addr+"user: safe\n"+tlsOf(certs), "")
	ready(t, k, addr+"user: safe\n", "LOCKBENCH_PASSWORD") // the server lets it in with TLS only
	ready(t, k, addr+"user: app\n"+tlsOf(labtest.NewCerts(t)), "TLS fails")
	ready(t, k, "servers: ["+server+"]\nuser: app\npassword: wrong\n", "LOCKBENCH_PASSWORD")
	ready(t, k, "servers: ["+server+"]\nuser: app\npassword: "+secret+"\ndatabase: nowhere\n", "create the database")
}

func makeAccounts(t *testing.T, server string) {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.MultiStatements = "lockbench", "tcp", server, true
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	// The lab's account may not pass its rights on by GRANT.
	if _, err := db.ExecContext(t.Context(), `CREATE DATABASE benches;
		CREATE USER app@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('`+secret+`');
		CREATE USER safe@'%' IDENTIFIED VIA mysql_native_password USING PASSWORD('`+secret+`') REQUIRE SSL;
		UPDATE mysql.global_priv a JOIN mysql.global_priv b ON b.User = 'lockbench'
			SET a.Priv = JSON_SET(a.Priv, '$.access', JSON_EXTRACT(b.Priv, '$.access')) WHERE a.User IN ('app', 'safe');
		FLUSH PRIVILEGES`); err != nil {
		t.Fatal(err)
	}
}

// TestZooKeeper: a server that only one user may write to.
func TestZooKeeper(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	k := kind(t, "zookeeper")
	server := labtest.Servers(t, "zookeeper")[0].Endpoint()
	addr := "servers: [" + server + "]\n"
	ready(t, k, addr, "")
	c, _, err := zk.Connect([]string{server}, 5*time.Second, zk.WithLogger(quiet{}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rights := append(zk.DigestACL(zk.PermAll, "app", secret), zk.WorldACL(zk.PermRead)...)
	if _, err := c.SetACL("/", rights, -1); err != nil {
		t.Fatal(err)
	}
	ready(t, k, addr+"user: app\npassword: "+secret+"\n", "")
	ready(t, k, addr+"user: app\npassword: wrong\n", "LOCKBENCH_PASSWORD")
	ready(t, k, addr, "LOCKBENCH_PASSWORD")

	// A client whose session is over hears that, also where another would have to log in first.
	back, err := net.Dial("tcp", served(t, k, addr+"user: app\npassword: "+secret+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	_ = back.SetDeadline(time.Now().Add(5 * time.Second))
	hello := make([]byte, 4+44) // ConnectRequest: ..., 8 bytes of a session, the length of its password and that
	hello[3], hello[4+15], hello[4+4+8+4+7], hello[4+4+8+4+8+3] = 44, 100, 99, 16
	if _, err := back.Write(hello); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 12) // its length, the version, how long a session lasts
	if _, err := io.ReadFull(back, answer); err != nil || binary.BigEndian.Uint32(answer[8:]) != 0 {
		t.Errorf("the session is over, and it says %v, %v", answer, err)
	}
}

// TestOccupied: what is there is named, and nothing of anybody else is touched: neither what
// does not begin with the prefix, nor what another run is using.
func TestOccupied(t *testing.T) {
	t.Parallel()
	for _, topology := range []string{"redis", "etcd", "zookeeper", "mariadb"} {
		t.Run(topology, func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, 1)
			k, server := kind(t, topology), labtest.Servers(t, topology)[0].Endpoint()
			theirs, ours := those(t, server), those(t, server)
			ctx := t.Context()
			if err := theirs.Take(ctx, k); err != nil {
				t.Fatal(err)
			}
			keep(t, topology, server)
			var left *lab.OccupiedError
			if err := ours.Ready(ctx, k); !errors.As(err, &left) || len(left.Names) != 1 || !strings.Contains(left.Names[0], "lockbench") || left.By != theirs.by {
				t.Errorf("another run is using it: %v", err)
			}
			if err := ours.Take(ctx, k); !errors.Is(err, lab.ErrTaken) {
				t.Errorf("two runs have taken it: %v", err)
			}
			if err := ours.GiveBack(k); !errors.Is(err, lab.ErrTaken) {
				t.Errorf("it gave back what is another's: %v", err)
			}
			if all, by, err := ours.kept(ctx, k); err != nil || len(all) != 1 || by != theirs.by {
				t.Errorf("what another run uses is %v, %q, %v", all, by, err)
			}
			if err := ours.Clear(k); err != nil { // whoever says so knows that it is dead
				t.Error(err)
			}
			if err := ours.Ready(ctx, k); err != nil {
				t.Error(err)
			}
			kept(t, topology, server)
		})
	}
}

func those(t *testing.T, server string) *config {
	t.Helper()
	c, err := read(server)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// keep has the server keep one thing under the prefix, and some that only look like that.
func keep(t *testing.T, topology, server string) {
	t.Helper()
	var err error
	switch ctx := t.Context(); topology {
	case "redis":
		c := redis.NewClient(&redis.Options{Addr: server})
		defer c.Close()
		err = c.MSet(ctx, "lockbench:left", "1", "Lockbench:theirs", "1", "x:lockbench", "1").Err()
	case "etcd":
		c := etcdAt(t, server)
		defer c.Close()
		for _, key := range []string{"lockbench:left", "lockbenc", "lockbencj"} {
			_, e := c.Put(ctx, key, "1")
			err = errors.Join(err, e)
		}
	case "zookeeper":
		c, _, e := zk.Connect([]string{server}, 5*time.Second, zk.WithLogger(quiet{}))
		if e != nil {
			t.Fatal(e)
		}
		defer c.Close()
		for _, path := range []string{"/lockbench-left", "/lockbench-left/below", "/Lockbench", "/x", "/x/lockbench"} {
			_, e := c.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
			err = errors.Join(err, e)
		}
	case "mariadb":
		db := mysqlAt(t, server)
		defer db.Close()
		for _, what := range []string{"TABLE lockbench_left (n INT)", "TABLE LOCKBENCH_USERS (n INT)", "TABLE lockbenc (n INT)", "VIEW lockbench_view AS SELECT * FROM lockbenc"} {
			_, e := db.ExecContext(ctx, "CREATE "+what)
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// kept is what must be there of it at the end.
func kept(t *testing.T, topology, server string) {
	t.Helper()
	var names []string
	wants := 2
	switch topology {
	case "redis":
		names = redisNames(t, server)
	case "etcd":
		names = etcdNames(t, server)
	case "zookeeper":
		names, wants = zookeeperNames(t, server), 3 // one is the server's own
	case "mariadb":
		names, wants = mariadbNames(t, server), 3
	}
	if len(names) != wants {
		t.Errorf("what is left is %v", names)
	}
}

func etcdAt(t *testing.T, server string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{server}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mysqlAt(t *testing.T, server string) *sql.DB {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = "lockbench", "tcp", server, "lockbench"
	db, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// quiet keeps the library from printing.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// TestStranger: of servers to which nobody has said how to log in, that is said.
func TestStranger(t *testing.T) {
	ready(t, lab.Kind{Name: "strange"}, "servers: [a:1]\n", "can't log in")
	ready(t, lab.Kind{Name: "strange"}, "servers: [a:1]\nsentinels: [b:1]\nmaster: m\n", "can't ask sentinels")
}

// TestRead: what a file may say, and that no line of it is repeated.
func TestRead(t *testing.T) {
	for _, tc := range []struct{ text, wants string }{
		{"servers: [a:1, b:2]\npassword: " + secret + "\n", ""},
		{"servers: [a:1]\ncommands: {kill-leader: {do: \"true\", undo: \"true\"}}\n", ""},
		{"servers: []\n", "no servers"},
		{"servers: [a]\n", "not HOST:PORT"},
		{"servers: [a:1, a:1]\n", "twice"},
		{"servers: [a:1]\nsentinels: [b:1]\n", "master"},
		{"servers: [a:1]\npasword: " + secret + "\n", `line 2: unknown field "pasword"; did you mean password?`},
		{"servers: [a:1]\ntls: {password: " + secret + "}\n", `line 2: unknown field "password"; there are ca, cert, key, server-name`},
		{"servers: [a:1]\ntls: {caa: /nowhere}\n", "did you mean ca?"},
		{"servers: [a:1]\nca: /nowhere\n", "; there are servers, "},
		{"servers: [a:1]\ncommands: {kill-leader: {unod: \"true\"}}\n", "did you mean undo"},
		{"servers: [a:1]\npassword: [" + secret + "]\n", "line 2"},
		{"password: {" + secret, ""},
		{"password: *" + secret + "\nservers: [a:1]\n", ""},
		{"servers: [a:1]\ntls: {ca: /nowhere}\n", "/nowhere"},
	} {
		_, err := read(file(t, tc.text))
		if bad := strings.HasPrefix(tc.text, "password"); !bad && (err == nil) != (tc.wants == "") || err != nil && !strings.Contains(err.Error(), tc.wants) || bad && err == nil {
			t.Errorf("%q: %v", tc.text, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("it tells the secret: %v", err)
		}
	}
	if _, err := read("nowhere.yaml"); err == nil {
		t.Error("a file that is not there")
	}
}

// TestHidden: the password goes no further than the process that the user started.
func TestHidden(t *testing.T) {
	if got := hidden([]string{"A=1", passwordVariable + "=" + secret, "B=2"}); len(got) != 2 || strings.Contains(strings.Join(got, " "), secret) {
		t.Errorf("%v", got)
	}
}
