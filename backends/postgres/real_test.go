package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/backends/postgres"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// endpoint is that of a real server for the time of the test.
func endpoint(t *testing.T) string {
	t.Helper()
	return labtest.Endpoints(labtest.Servers(t, "postgres"))[0]
}

func url(endpoint string) string {
	return "postgres://lockbench@" + endpoint + "/lockbench?sslmode=disable"
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestReal(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r := wiretest.NewRelay(t, postgres.Language, endpoint(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, url(r.Addr)) // and asks for TLS first
	must(t, err)
	exec := func(statement string, args ...any) error {
		_, err := c.Exec(ctx, statement, args...)
		return err
	}
	must(t, exec("SET lock_timeout = 1000"))
	r.Want(t, "")
	must(t, c.Ping(ctx))
	r.Want(t, "ping~ =ping~")
	must(t, exec("create table t (a int primary key, b text)"), exec("INSERT INTO t VALUES ($1, $2)", 1, "x"), exec("INSERT INTO t VALUES ($1, $2)", 2, "y"))
	r.Want(t, "create prepare insert insert =create =prepare =insert =insert")
	if err := exec("INSERT INTO t VALUES ($1, $2)", 1, "x"); err == nil {
		t.Error("a key was taken twice")
	}
	if err := exec("INSERT INTO nowhere VALUES ($1)", 1); err == nil {
		t.Error("there is no such table")
	}
	r.Want(t, "insert prepare =insert! =prepare!")
	modes := map[string]pgx.QueryExecMode{
		"prepare select =prepare =select": pgx.QueryExecModeDescribeExec,
		"select =select":                  pgx.QueryExecModeExec,
	}
	for want, mode := range modes {
		var n int
		must(t, c.QueryRow(ctx, "/* a test */ SELECT count(*) FROM t WHERE a < $1", mode, 9).Scan(&n))
		if n != 2 {
			t.Errorf("%d rows", n)
		}
		r.Want(t, want)
	}
	var held bool
	must(t, c.QueryRow(ctx, "select pg_try_advisory_lock($1)", pgx.QueryExecModeSimpleProtocol, 7).Scan(&held))
	if !held {
		t.Error("a lock is not free that nobody holds")
	}
	r.Want(t, "select =select")

	tx, err := c.Begin(ctx)
	must(t, err)
	rows, err := tx.Query(ctx, "select g, repeat('x', 100) from generate_series(1, 5000) g", pgx.QueryExecModeExec)
	must(t, err)
	n := 0
	for rows.Next() {
		n++
	}
	must(t, rows.Err(), tx.Commit(ctx))
	if n != 5000 {
		t.Errorf("%d rows of a large result", n)
	}
	r.Want(t, "begin select commit =begin =select =commit")

	b := &pgx.Batch{}
	b.Queue("update t set b = $1", "z")
	b.Queue("delete from t where a = $1", 2)
	must(t, c.SendBatch(ctx, b).Close())
	r.Forget() // first it prepares both at once
	_, err = c.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"a", "b"}, pgx.CopyFromRows([][]any{{8, "a"}, {9, "b"}}))
	must(t, err)
	r.Want(t, "prepare copy =prepare =copy")
	must(t, exec("listen here"), exec("notify here"))
	_, err = c.WaitForNotification(ctx)
	must(t, err)
	r.Want(t, "listen notify =listen =notify")

	waiting, giveUp := context.WithTimeout(ctx, 200*time.Millisecond)
	defer giveUp()
	if _, err := c.Exec(waiting, "select pg_sleep(30)"); err == nil { // which ends its connection
		t.Error("it did not give up")
	}
	must(t, c.Close(ctx))
	if got := fmt.Sprint(r.Notes()); got != "select" && got != "select =select!" {
		t.Errorf("heard %q of what was given up", got)
	}
}

// TestRealLibpq: which asks for encryption, and goes on without it on the same connection.
func TestRealLibpq(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r := wiretest.NewRelay(t, postgres.Language, endpoint(t))
	_, err := exec.LookPath("psql") // the distributions' wrapper
	testkit.Need(t, "psql", err)
	psql := exec.CommandContext(t.Context(), "psql", strings.Replace(url(r.Addr), "disable", "prefer", 1), "-c", "-- ping", "-c", "select pg_advisory_lock(1); select 1",
		"-c", "create table t (a int)", "-c", `\copy t from program 'echo 1'`, "-c", "update nothing set a = 1")
	if out, err := psql.CombinedOutput(); err == nil {
		t.Errorf("there is no such table:\n%s", out)
	}
	r.Want(t, "ping~ select create copy update =ping~ =select =create =copy =update!")
}
