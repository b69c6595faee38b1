package zk

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// Container is [Sequential] under a node that the server removes when it is empty,
// so that a lock that nobody wants any more leaves nothing behind:
//
//	create container lock          (again, whenever a create below it says NoNode)
//	create -e -s lock/_c_owner-lock-
//	…
//
// The numbers of the names begin anew with each container; the token does not.
//
// Source: ZooKeeper Programmer's Guide, "Container Nodes", which are made for it.
func Container() lb.Impl {
	return containerOf("ephemeral sequential nodes under a container, which the server removes when it is empty", container)
}

// TTLContainer is [Container] whose lock's node is a TTL node: one that the
// server removes when it is empty and ttl after its creation, by the wall clock of
// the server. It needs the server's zookeeper.extendedTypesEnabled.
func TTLContainer(ttl time.Duration) lb.Impl {
	lay := func(ctx context.Context, s *zksession.Session, req lb.Request, path string) error {
		return made(zksession.Repeat(ctx, s, req, "make", func(z *zk.Conn) (string, error) {
			return z.CreateTTL(path, nil, zk.FlagTTL, open, ttl)
		}))
	}
	return containerOf("ephemeral sequential nodes under a node with a TTL", lay)
}

func container(ctx context.Context, s *zksession.Session, req lb.Request, path string) error {
	return made(zksession.Repeat(ctx, s, req, "make", func(z *zk.Conn) (string, error) {
		return z.CreateContainer(path, nil, zk.FlagContainer, open)
	}))
}

func containerOf(doc string, lay layer) lb.Impl {
	return algorithm{
		info: queueInfo("zk-container", doc, `ZooKeeper Programmer's Guide, "Container Nodes" and "TTL Nodes"`),
		open: func(c *client) lb.Client {
			return &queue{client: c, root: "/lockbench-container", lay: lay, mode: exclusive, before: predecessor}
		},
	}
}
