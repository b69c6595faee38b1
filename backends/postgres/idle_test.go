package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

// TestIdleLimitOfTheUsers: a limit that the server was started with stays, and whoever asks for another is told which.
func TestIdleLimitOfTheUsers(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	top, _ := backends.Topology("postgres")
	top, err := top.With(lab.Own{Options: []string{"idle_session_timeout=5000"}})
	must(t, err)
	server := labtest.ServersOf(t, top)[0]
	for range 4 { // a busy machine may take longer than the operation does to connect
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second) // of which it takes some until it has looked once
		_, err = server.Operate(ctx, lab.IdleTimeout, "127.0.0.1")
		cancel()
		if !pgconn.Timeout(err) {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), ": idle_session_timeout can't be changed") {
		t.Error(err)
	}
}
