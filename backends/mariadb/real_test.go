package mariadb_test

import (
	"database/sql"
	"errors"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/lockbench/lockbench/backends/mariadb"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

// relayTo stands before the first server of a topology.
func relayTo(t *testing.T, topology string) *wiretest.Relay {
	t.Helper()
	return wiretest.NewRelay(t, mariadb.Language, labtest.Endpoints(labtest.Servers(t, topology))[0])
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestRealMySQL(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := relayTo(t, "mariadb"), t.Context()
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
