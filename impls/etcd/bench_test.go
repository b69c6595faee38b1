package etcd

import (
	"context"
	"testing"

	"github.com/lockbench/lockbench/internal/labtest"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// BenchmarkUncontended compares an acquire and release by each row with the bare cost of
// what etcd-lease writes: a lease, a key and the end of both.
func BenchmarkUncontended(b *testing.B) {
	servers := labtest.Endpoints(labtest.Servers(b, "etcd"))
	hand, err := clientv3.New(clientv3.Config{Endpoints: servers})
	if err != nil {
		b.Fatal(err)
	}
	defer hand.Close()
	labtest.Compare(b, labtest.Contestant{Name: "bare-writes", Do: func() error { return bare(b.Context(), hand) }},
		labtest.Cycle(b, Lease(), servers), labtest.Cycle(b, Mutex(), servers), labtest.Cycle(b, V3Lock(), servers))
}

func bare(ctx context.Context, etcd *clientv3.Client) error {
	lease, err := etcd.Grant(ctx, 60)
	if err != nil {
		return err
	}
	if _, err := etcd.Put(ctx, "bare", "", clientv3.WithLease(lease.ID)); err != nil {
		return err
	}
	_, err = etcd.Revoke(ctx, lease.ID)
	return err
}

// BenchmarkHandOffs compares the rows with the lock of etcd's own library.
func BenchmarkHandOffs(b *testing.B) {
	labtest.HandOffs(b, labtest.Endpoints(labtest.Servers(b, "etcd")), Mutex(), Lease(), V3Lock())
}
