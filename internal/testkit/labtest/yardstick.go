package labtest

import (
	"testing"

	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
)

// Yardstick makes both round trips of a yardstick twice on a server of the topology: what the first left behind is not in the way of
// the second.
func Yardstick(t *testing.T, top lab.Topology) {
	t.Helper()
	testkit.Share(t, Places(top))
	yard, err := top.Kind.Yardstick(t.Context(), Endpoints(ServersOf(t, top))[0])
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
