package nats

import (
	"context"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/nats"
)

// AnyDelete is [KV] as it is often written: with the library's Delete(ctx, key), which writes a marker whoever's key is
// there, and says nothing of whose it was. Who does not look at the revision there has none as a token either.
func AnyDelete() lb.Impl {
	info := KV().Info()
	info.Name = "nats-kv-delete"
	info.Doc = "create a key with a TTL of its own, or over the marker of one that is gone; delete whoever's key is there"
	info.Source = "nats.go, jetstream.KeyValue, Delete without LastRevision"
	info.Requests, info.Reads, info.ByTheBook = []string{"get", "create", "delete", "ready"}, []string{"get", "ready"}, false
	info.Traits.Fenced, info.Expect = false, anyDelete()
	return algorithm{info: info, open: func(s *session) lb.Client { return anyDeleter{kv{s}} }}
}

type anyDeleter struct{ kv }

func (c anyDeleter) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	lease, err := c.kv.Acquire(ctx, req)
	if err != nil {
		return nil, err
	}
	return c.env.Grant(req, 0, lease.Until()), nil
}

func (c anyDeleter) Release(ctx context.Context, req lb.Request) error {
	return c.delete(ctx, req, backend.Any)
}
