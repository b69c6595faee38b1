package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

// accounts are asked for their passwords each in a way of its own; root is asked nothing.
const accounts = `host all root all trust
host all app all scram-sha-256
host all old all md5
host all plain all password
hostssl all safe all scram-sha-256
hostssl all lockbench all cert
hostssl all double all scram-sha-256 clientcert=verify-ca
host all nobody all scram-sha-256
`

// server is one that somebody else runs.
type server struct {
	addr    string
	process lab.Process
	root    *pgx.Conn // in the database of the accounts
}

func at(server, database string) string {
	return "postgres://root@" + server + "/" + database + "?sslmode=disable"
}

// ready is one that lets people in: it listens before.
func ready(ctx context.Context, endpoint string) error {
	c, err := pgx.Connect(ctx, at(endpoint, "postgres"))
	if err != nil {
		return err
	}
	return c.Close(ctx)
}

// start starts one with TLS, for those who want it.
func start(t *testing.T, c labtest.Certs) *server {
	t.Helper()
	programs := bin(t)
	dir := filepath.Join(t.TempDir(), "data")
	made := asSomebody(filepath.Join(programs, "initdb"), "-D", dir, "-U", "root", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
	if text, err := exec.Command(made[0], made[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	key, err := os.ReadFile(c.Key) // which nobody else may read
	config, e := os.OpenFile(filepath.Join(dir, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err := errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintf(config, "ssl = on\nssl_cert_file = '%s'\nssl_ca_file = '%s'\nssl_key_file = 'key.pem'\nunix_socket_directories = ''\nfsync = off\nshared_buffers = 8MB\n", c.Cert, c.CA)
	if err := errors.Join(err, config.Close(), os.WriteFile(filepath.Join(dir, "key.pem"), key, 0o600), os.WriteFile(filepath.Join(dir, "pg_hba.conf"), []byte(accounts), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := labtest.Start(t, lab.Program{Port: 5432, Ready: ready, Argv: asSomebody(filepath.Join(programs, "postgres"), "-D", dir, "-h", "{addr}", "-p", "{port}")})
	s := &server{addr: p.Endpoint(), process: p}
	s.enter(t, "postgres")
	for _, user := range []string{"app", "plain", "safe", "double", "lockbench"} {
		s.do(t, "CREATE ROLE "+user+" LOGIN PASSWORD '"+secret+"'")
	}
	s.do(t, "SET password_encryption = md5")
	s.do(t, "CREATE ROLE old LOGIN PASSWORD '"+secret+"'")
	s.do(t, "CREATE DATABASE benches")
	s.enter(t, "benches")
	s.do(t, "GRANT ALL ON SCHEMA public TO PUBLIC")
	return s
}

func (s *server) enter(t *testing.T, database string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at(s.addr, database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(t.Context()) })
	s.root = c
}

func (s *server) do(t *testing.T, what string) {
	t.Helper()
	if _, err := s.root.Exec(t.Context(), what); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func (s *server) see(t *testing.T, what string, to any) {
	t.Helper()
	if err := s.root.QueryRow(t.Context(), what).Scan(to); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// bin is the directory of the newest PostgreSQL that is installed.
func bin(t *testing.T) string {
	t.Helper()
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, e := exec.LookPath("initdb"); e == nil {
		all = append(all, path)
	}
	if err == nil && len(all) == 0 {
		err = errors.New("its programs are not installed: apt-get install postgresql")
	}
	testkit.Need(t, "PostgreSQL", err)
	return filepath.Dir(slices.Max(all))
}

// asSomebody is a command by somebody who is not root, whom PostgreSQL refuses to serve.
func asSomebody(argv ...string) []string {
	if os.Geteuid() != 0 {
		return argv
	}
	const id = 1000
	return append([]string{"unshare", "--user", "--map-user=" + strconv.Itoa(id), "--map-group=" + strconv.Itoa(id)}, argv...)
}
