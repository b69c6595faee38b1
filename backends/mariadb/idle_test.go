package mariadb_test

import (
	"context"
	"database/sql"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

// TestIdleMariaDB: what says nothing for long is closed, and counts for the host that it came from; what says
// something now and then is not, whatever else is closed meanwhile.
func TestIdleMariaDB(t *testing.T) {
	t.Parallel()
	server := labtest.Servers(t, "mariadb")[0]
	const silent, talks = "127.0.0.3", "127.0.0.4"
	var ends []func(context.Context) (lab.Effect, error)
	for _, host := range []string{silent, talks} {
		e, err := server.Operate(t.Context(), lab.IdleTimeout, host)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, e.End)
	}
	from := func(host string) *sql.Conn {
		cfg := mysql.NewConfig()
		cfg.User, cfg.Net, cfg.Addr, cfg.Logger = "lockbench", "tcp", server.Endpoint(), &mysql.NopLogger{}
		cfg.DialFunc = dialFrom(host)
		connector, err := mysql.NewConnector(cfg)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(connector)
		t.Cleanup(func() { _ = db.Close() })
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if _, err := from(silent).ExecContext(t.Context(), "DO 1"); err != nil { // as locks do, first
		t.Fatal(err)
	}
	talker := from(talks)
	for begin := time.Now(); time.Since(begin) < 3200*time.Millisecond; time.Sleep(100 * time.Millisecond) {
		if _, err := talker.ExecContext(t.Context(), "DO 1"); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"closed 1 connection from " + silent + " for being idle", "closed 0 connections from " + talks + " for being idle; it has 1, of which the longest silence was 0."} {
		e, err := ends[i](t.Context())
		if err != nil || e.Count != 1-i || e.Immune != (i == 1) || !strings.HasPrefix(e.Told, want) {
			t.Errorf("%+v, want %q; %v", e, want, err)
		}
	}
}

// dialFrom dials as a host does that has this address.
func dialFrom(host string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}).DialContext
}

func TestMain(m *testing.M) { labtest.Main(m) }
