package backends_test

import (
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestYardsticks is of one server of each software. What is an install of its own has such a test of its own.
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
			labtest.Yardstick(t, top)
		})
	}
}
