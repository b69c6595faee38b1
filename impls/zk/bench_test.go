package zk

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/peers"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// BenchmarkUncontended compares an acquire and release by each row, and by the lock of the
// library, with the bare cost of what zk-sequential writes: a node and its end.
func BenchmarkUncontended(b *testing.B) {
	servers := labtest.Endpoints(labtest.Servers(b, "zookeeper"))
	hand, _, err := zk.Connect(servers, time.Minute, zk.WithLogger(quiet{}), zk.WithLogInfo(false))
	if err != nil {
		b.Fatal(err)
	}
	defer hand.Close()
	if _, err := hand.Create("/bare", nil, zk.FlagPersistent, open); err != nil {
		b.Fatal(err)
	}
	contestants := []labtest.Contestant{{Name: "bare-writes", Do: func() error {
		path, err := hand.Create("/bare/lock-", nil, zk.FlagEphemeralSequential, open)
		if err != nil {
			return err
		}
		return hand.Delete(path, -1)
	}}}
	for _, impl := range []lb.Impl{Sequential(), Container(), RW(), Herd(), peers.ZKLock()} {
		contestants = append(contestants, labtest.Cycle(b, impl, servers))
	}
	labtest.Compare(b, contestants...)
}

// BenchmarkHandOffs compares the rows with the lock of the library.
func BenchmarkHandOffs(b *testing.B) {
	labtest.HandOffs(b, labtest.Endpoints(labtest.Servers(b, "zookeeper")), peers.ZKLock(), Sequential(), Container(), Herd())
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
