package etcd

import (
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/labtest"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// BenchmarkUncontended compares an acquire and release by each row with the bare cost of
// what etcd-lease writes: a key and its end.
func BenchmarkUncontended(b *testing.B) {
	servers := labtest.Endpoints(labtest.Servers(b, "etcd"))
	hand, err := clientv3.New(clientv3.Config{Endpoints: servers})
	if err != nil {
		b.Fatal(err)
	}
	defer hand.Close()
	lease, err := hand.Grant(b.Context(), 600)
	if err != nil {
		b.Fatal(err)
	}
	bare := func() error {
		if _, err := hand.Put(b.Context(), "bare", "", clientv3.WithLease(lease.ID)); err != nil {
			return err
		}
		_, err := hand.Delete(b.Context(), "bare")
		return err
	}
	labtest.Compare(b, labtest.Contestant{Name: "bare-writes", Do: bare},
		labtest.Cycle(b, Lease(), servers), labtest.Cycle(b, Mutex(), servers), labtest.Cycle(b, V3Lock(), servers))
}

// BenchmarkHandOffs compares the rows with the lock of etcd's own library.
func BenchmarkHandOffs(b *testing.B) {
	labtest.HandOffs(b, labtest.Endpoints(labtest.Servers(b, "etcd")), Mutex(), Lease(), V3Lock())
}
