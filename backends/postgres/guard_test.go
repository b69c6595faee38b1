package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/backends/postgres"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/workloads/guard"
)

// TestGuardGoesOn: a claim that was given up takes its connection with it, and the next one
// has another.
func TestGuardGoesOn(t *testing.T) {
	addr := labtest.Endpoints(labtest.Servers(t, "postgres"))[0]
	g, err := postgres.Store().Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { g.Close() }()
	claims := []guard.Claim{{Record: "a", Token: 1, First: 7}}
	if _, _, err := g.Admit(t.Context(), claims); err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(t.Context(), "postgres://lockbench@"+addr+"/lockbench?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	if _, err := other.Exec(t.Context(), "BEGIN; SELECT value FROM guarded FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := g.Admit(short, claims); err == nil {
		t.Error("a claim of a row that another has is answered")
	}
	if _, err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if before, ok, err := g.Admit(t.Context(), claims); err != nil || !ok || before[0] != 7 {
		t.Errorf("%v, %v, %v; want 7", before, ok, err)
	}
}
