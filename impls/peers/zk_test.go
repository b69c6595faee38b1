package peers

import (
	"testing"

	"github.com/lockbench/lockbench/impls/locktest"
	"github.com/lockbench/lockbench/internal/labtest"
)

func TestZKLockTmp(t *testing.T) {
	locktest.Run(t, ZKLock(), locktest.Options{
		Servers:    labtest.Endpoints(labtest.Servers(t, "zookeeper")),
		RoundTrips: locktest.RoundTrips{Acquire: 2, Release: 1},
	})
}
