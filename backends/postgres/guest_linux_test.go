package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockbench/lockbench/backends/postgres"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/lab/external"
)

var kind = lab.Kind{Name: "postgres", Software: lab.Software{Name: "postgres"}, Guest: postgres.Guest()}

const secret = "correct-horse,=Ⅸ"

// addrs is a file of --addrs.
func addrs(t *testing.T, server, how string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lab.yaml")
	if err := os.WriteFile(path, []byte("servers: ["+server+"]\n"+how), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func borrowed(t *testing.T, server, how string) lab.Borrowed {
	t.Helper()
	d, err := external.Driver().At(addrs(t, server, how))
	if err != nil {
		t.Fatal(err)
	}
	return d.Borrowed
}

// TestLogin: in each of the ways in which PostgreSQL asks for a password, and what is said when
// that fails.
func TestLogin(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	certs := labtest.NewCerts(t)
	s := start(t, certs)
	var old string
	if s.see(t, "SELECT left(rolpassword, 3) FROM pg_authid WHERE rolname = 'old'", &old); old != "md5" {
		t.Fatalf("the server keeps the password as %s", old)
	}
	tls := fmt.Sprintf("tls: {ca: %s, server-name: %s}\n", certs.CA, labtest.CertName)
	own := strings.Replace(tls, "}", fmt.Sprintf(", cert: %s, key: %s}", certs.Cert, certs.Key), 1)
	as := func(user string) string { return "database: benches\npassword: '" + secret + "'\nuser: " + user + "\n" }
	for _, tc := range []struct{ name, how, wants string }{
		{"scram-sha-256", as("app"), ""},
		{"scram-sha-256 with TLS", as("app") + tls, ""},
		{"md5", as("old"), ""},
		{"password with TLS", as("plain") + tls, ""},
		{"password without TLS", as("plain"), "use TLS"},
		{"TLS where it must be", as("safe") + tls, ""},
		{"no TLS where it must be", as("safe"), "whether it wants TLS"},
		{"a certificate for a login", "database: benches\n" + own, ""},
		{"no certificate for a login", "database: benches\n" + tls, "'cert' and 'key'"},
		{"a password and a certificate", as("double") + own, ""},
		{"a password without a certificate", as("double") + tls, "'cert' and 'key'"},
		{"another authority", as("app") + fmt.Sprintf("tls: {ca: %s, server-name: %s}\n", labtest.NewCerts(t).CA, labtest.CertName), "TLS fails"},
		{"a wrong password", strings.Replace(as("app"), secret, "wrong", 1), "LOCKBENCH_PASSWORD"},
		{"a wrong password, md5", strings.Replace(as("old"), secret, "wrong", 1), "28P01"},
		{"no password", "database: benches\nuser: app\n", "LOCKBENCH_PASSWORD"},
		{"nobody of that name", as("nobody"), "LOCKBENCH_USER"},
		{"no database", strings.Replace(as("app"), "benches", "nowhere", 1), "create the database"},
		{"no right", strings.Replace(as("app"), "benches", "template1", 1), "permission denied for schema public"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := borrowed(t, s.addr, tc.how).Ready(t.Context(), kind)
			if tc.wants == "" && err != nil || tc.wants != "" && (err == nil || !strings.Contains(err.Error(), tc.wants)) {
				t.Errorf("%v, want %q", err, tc.wants)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("not a line without secrets: %v", err)
			}
		})
	}
	t.Run("TLS where there is none", func(t *testing.T) {
		s.do(t, "ALTER SYSTEM SET ssl = off")
		s.do(t, "SELECT pg_reload_conf()")
		for end := time.Now().Add(10 * time.Second); ; {
			err := borrowed(t, s.addr, as("app")+tls).Ready(t.Context(), kind)
			if err != nil && strings.Contains(err.Error(), "leave them out for a server without TLS: the server offers none") {
				return
			}
			if time.Now().After(end) { // it takes a moment until it has read that
				t.Fatal(err)
			}
		}
	})
}

// TestClient: one that knows of no passwords has the user's account and database, and can have
// its own query cancelled.
func TestClient(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	certs := labtest.NewCerts(t)
	s := start(t, certs)
	how := "database: benches\npassword: '" + secret + "'\nuser: safe\n" + fmt.Sprintf("tls: {ca: %s, server-name: %s}\n", certs.CA, labtest.CertName)
	at := relayed(t, s.addr, how)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, "postgres://lockbench@"+at+"/lockbench?sslmode=prefer")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	var user, database string
	var safe bool
	if err := c.QueryRow(ctx, "SELECT current_user, current_database(), ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&user, &database, &safe); err != nil || user != "safe" || database != "benches" || !safe {
		t.Errorf("%s in %s, TLS: %v, %v", user, database, safe, err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, "SELECT pg_sleep(15)")
		ended <- err
	}()
	for asleep := false; !asleep; {
		s.see(t, "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'", &asleep)
	}
	if err := c.PgConn().CancelRequest(ctx); err != nil {
		t.Error(err)
	}
	if err, said := <-ended, (*pgconn.PgError)(nil); !errors.As(err, &said) || said.Code != "57014" {
		t.Errorf("the query that was cancelled: %v", err)
	}
}

// TestClientHearsWhy: who is not let in is told what the server says.
func TestClientHearsWhy(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	s := start(t, labtest.NewCerts(t))
	at := relayed(t, s.addr, "database: benches\npassword: wrong\nuser: app\n")
	c, err := pgx.Connect(t.Context(), "postgres://lockbench@"+at+"/lockbench?sslmode=disable")
	if err == nil {
		c.Close(t.Context())
	}
	if said := (*pgconn.PgError)(nil); !errors.As(err, &said) || said.Code != "28P01" {
		t.Errorf("%v", err)
	}
}

func relayed(t *testing.T, server, how string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	file := addrs(t, server, how)
	go func() { _ = external.Serve(file, kind, l) }()
	return l.Addr().String()
}

// TestOccupied: what is there is named, and nothing of anybody else is touched.
func TestOccupied(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	s := start(t, labtest.NewCerts(t))
	how := "database: benches\npassword: '" + secret + "'\nuser: app\n"
	theirs, ours := borrowed(t, s.addr, how), borrowed(t, s.addr, how)
	ctx := t.Context()
	d, err := external.Driver().At(addrs(t, s.addr, how))
	if err != nil {
		t.Fatal(err)
	}
	if said, err := d.Ask(ctx, kind, nil); err != nil || !strings.HasPrefix(string(said), "PostgreSQL 1") || strings.Contains(string(said), "on") {
		t.Errorf("its version is %q, %v", said, err)
	}
	if err := theirs.Take(ctx, kind); err != nil {
		t.Fatal(err)
	}
	s.do(t, `CREATE TABLE "lockbench:left" (n int)`)
	s.do(t, `ALTER TABLE "lockbench:left" OWNER TO app`)
	for _, what := range []string{`TABLE "Lockbench" (n int)`, "TABLE lockbenc (n int)", "VIEW lockbench_view AS SELECT 1", "SCHEMA other", "TABLE other.lockbench (n int)"} {
		s.do(t, "CREATE "+what)
	}
	var left *lab.OccupiedError
	if err := ours.Ready(ctx, kind); !errors.As(err, &left) || len(left.Names) != 1 || left.Names[0] != "lockbench:left" || left.By == "" {
		t.Errorf("another run is using it: %v", err)
	}
	if err := ours.Take(ctx, kind); !errors.Is(err, lab.ErrTaken) {
		t.Errorf("two runs have taken it: %v", err)
	}
	if err := ours.GiveBack(kind); !errors.Is(err, lab.ErrTaken) {
		t.Errorf("it gave back what is another's: %v", err)
	}
	if err := ours.Clear(kind); err != nil { // whoever says so knows that it is dead
		t.Error(err)
	}
	if err := ours.Ready(ctx, kind); err != nil {
		t.Error(err)
	}
	var rest int
	s.see(t, "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname IN ('public', 'other') AND relkind IN ('r', 'v')", &rest)
	if rest != 4 {
		t.Errorf("%d tables are left", rest)
	}
	s.atOnce(t, how)
	s.reading(t, how)
}

// atOnce: of many that take the server at once, one has it.
func (s *server) atOnce(t *testing.T, how string) {
	const many = 6
	all := make([]lab.Borrowed, many)
	took := make(chan error, many)
	for i := range all {
		all[i] = borrowed(t, s.addr, how)
		go func() { took <- all[i].Take(t.Context(), kind) }()
	}
	have := 0
	for range all {
		if err := <-took; err == nil {
			have++
		} else if !errors.Is(err, lab.ErrTaken) {
			t.Error(err)
		}
	}
	if have != 1 {
		t.Errorf("%d have taken it at once", have)
	}
	if err := all[0].Clear(kind); err != nil {
		t.Error(err)
	}
}

// reading: a server that takes no writes, as one that copies from another.
func (s *server) reading(t *testing.T, how string) {
	s.do(t, "ALTER ROLE app SET default_transaction_read_only = on")
	if err := borrowed(t, s.addr, how).Take(t.Context(), kind); !errors.Is(err, lab.ErrNotHere) {
		t.Errorf("it takes no writes: %v", err)
	}
}

// TestEnvironment: the variables by which somebody has set a client of PostgreSQL's up are not
// lockbench's.
func TestEnvironment(t *testing.T) {
	testkit.Share(t, 1)
	s := start(t, labtest.NewCerts(t))
	for name, value := range map[string]string{"PGHOST": "/nowhere", "PGPORT": "1", "PGUSER": "x", "PGDATABASE": "x", "PGPASSWORD": "x", "PGSSLMODE": "verify-full", "PGREQUIREAUTH": "scram-sha-256",
		"PGCHANNELBINDING": "require", "PGTARGETSESSIONATTRS": "standby", "PGOPTIONS": "-c search_path=nowhere", "PGMINPROTOCOLVERSION": "3.2", "PGMAXPROTOCOLVERSION": "3.2"} {
		t.Setenv(name, value)
	}
	if err := borrowed(t, s.addr, "database: benches\npassword: '"+secret+"'\nuser: app\n").Ready(t.Context(), kind); err != nil {
		t.Error(err)
	}
}

// TestHangs: a server that does not answer is waited for for so long, and no longer.
func TestHangs(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	s := start(t, labtest.NewCerts(t))
	if err := s.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"", "tls: {}\n"} {
		if err := borrowed(t, s.addr, how).Ready(t.Context(), kind); err == nil || !strings.Contains(err.Error(), "does it hang") {
			t.Errorf("%q: %v", how, err)
		}
	}
}

// TestOther: a server of another kind is no server.
func TestOther(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	redis := labtest.Servers(t, "redis")[0].Endpoint()
	for _, how := range []string{"", "tls: {}\n"} {
		err := borrowed(t, redis, how).Ready(t.Context(), kind)
		if err == nil || !strings.Contains(err.Error(), "is it something else") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", how, err)
		}
	}
}
