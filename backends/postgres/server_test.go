package postgres_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// server is the endpoint of a PostgreSQL for the time of the test, with a user and a database
// called lockbench. As soon as there is a topology of that name it is
// labtest.Servers(t, "postgres")[0].
func server(t *testing.T) string {
	t.Helper()
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err == nil && len(installed) == 0 {
		err = errors.New("apt-get install postgresql")
	}
	testkit.Need(t, "PostgreSQL", err)
	bin := slices.Max(installed)
	dir := filepath.Join(t.TempDir(), "data")
	made := nobody(filepath.Join(bin, "initdb"), "-D", dir, "-U", "lockbench", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
	if out, err := exec.Command(made[0], made[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ready := func(ctx context.Context, endpoint string) error {
		c, err := pgx.Connect(ctx, "postgres://lockbench@"+endpoint+"/postgres?sslmode=disable")
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, "CREATE DATABASE lockbench")
		return errors.Join(err, c.Close(ctx))
	}
	return labtest.Start(t, lab.Program{Port: 5432, Ready: ready,
		Argv: nobody(filepath.Join(bin, "postgres"), "-D", dir, "-h", "{addr}", "-p", "{port}", "-c", "unix_socket_directories=", "-c", "fsync=off")}).Endpoint()
}

// nobody is a command that does not run as root, where PostgreSQL refuses to.
func nobody(argv ...string) []string {
	if os.Geteuid() != 0 {
		return argv
	}
	return append(strings.Fields("unshare --user --map-user=1000 --map-group=1000"), argv...)
}
