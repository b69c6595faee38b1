package memcached

import (
	"context"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/memcached"
)

// AddCas takes the lock as [AddDelete] does, and gives back only what is its own:
//
//	add lock 0 seconds bytes owner     NOT_STORED: held, try again
//	gets lock                          another's value, or none: it is lost
//	cas lock 0 -1 0 number             EXISTS, NOT_FOUND: it is lost
//
// The number is that of the item which gets has read, so that no other is replaced; with a negative time the new one is
// over at once, and the next add finds nothing. memcached has no delete that compares. The two requests are no single
// statement: a store can't refuse a late write by them, and a server that has started again in between counts its numbers anew. Source:
// memcached's doc/protocol.txt, "Storage commands".
func AddCas() lb.Impl {
	return algorithm{
		info: lb.Info{
			Name:       "memcached-add-cas",
			Doc:        "add with an expiry that is up to three seconds longer than the lease; release by gets and a cas that is over at once",
			Source:     `memcached, doc/protocol.txt, "Storage commands"`,
			Topologies: []string{"memcached"},
			Requests:   []string{"add", "gets", "cas"},
			ByTheBook:  true,
			Takes:      "add",
			Reads:      []string{"gets"},
			InMemory:   true,
			MinTTL:     minTTL,
			Traits:     lb.Traits{Leased: true},
			Expect:     lease(),
		},
		open: func(s *session) lb.Client { return addCas{addDelete{s}} },
	}
}

type addCas struct{ addDelete }

func (c addCas) Release(ctx context.Context, req lb.Request) error {
	var item backend.Item
	_, err := c.ask(ctx, req, "gets", func(ctx context.Context, conn *backend.Conn) (err error) {
		var found bool
		item, found, err = conn.Gets(ctx, key(req.Lock))
		return released(found && item.Value == req.Owner, err)
	})
	if err != nil {
		return err
	}
	_, err = c.ask(ctx, req, "cas", func(ctx context.Context, conn *backend.Conn) error {
		ended, err := conn.Expire(ctx, key(req.Lock), item.Cas)
		return released(ended, err)
	})
	return err
}
