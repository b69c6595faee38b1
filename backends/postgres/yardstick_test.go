package postgres_test

import (
	"testing"

	"github.com/lockbench/lockbench/backends/postgres"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// TestYardstick makes both round trips twice: what the first left behind is not in the way of
// the second.
func TestYardstick(t *testing.T) {
	yard, err := postgres.Yardstick(t.Context(), labtest.Endpoints(labtest.Servers(t, "postgres"))[0])
	if err != nil {
		t.Fatal(err)
	}
	defer yard.Close()
	for range 2 {
		if err := yard.Floor(t.Context()); err != nil {
			t.Error("floor:", err)
		}
		if err := yard.Writes(t.Context()); err != nil {
			t.Error("writes:", err)
		}
	}
}
