package backends_test

import (
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestYardsticks makes both round trips twice on one server of each software: what the first
// left behind is not in the way of the second. What is an install of its own has such a test of its own.
func TestYardsticks(t *testing.T) {
	met := map[string]bool{}
	for _, top := range backends.Topologies() {
		software := top.Kind.Software.Name
		if top.Servers == 0 || top.Kind.Make != "" || met[software] {
			continue
		}
		met[software] = true
		t.Run(software, func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, labtest.Places(top))
			yard, err := top.Kind.Yardstick(t.Context(), labtest.Endpoints(labtest.ServersOf(t, top))[0])
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
		})
	}
}
