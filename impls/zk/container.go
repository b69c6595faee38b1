package zk

import (
	"context"
	"strings"
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
// The numbers of the names begin again with each container; the token does not.
//
// Source: ZooKeeper Programmer's Guide, "Container Nodes", which are made for it.
func Container() lb.Impl {
	return containerOf("zk-container", "ephemeral sequential nodes under a container, which the server removes when it is empty", "Container Nodes", container)
}

// TTL is [Container] whose lock's node is a TTL node: one that the server removes when it
// is empty and at least a second old, by the wall clock of the server. It needs the server's
// zookeeper.extendedTypesEnabled. Source: ZooKeeper Programmer's Guide, "TTL Nodes".
func TTL() lb.Impl {
	return containerOf("zk-ttl", "ephemeral sequential nodes under a TTL node, which the server removes when it is old and empty", "TTL Nodes", ttlNode)
}

func ttlNode(ctx context.Context, s *zksession.Session, req lb.Request, path string) error {
	return made(zksession.Repeat(ctx, s, req, "make", func(z *zk.Conn) (string, error) {
		return z.CreateTTL(path, nil, zk.FlagTTL, open, time.Second)
	}))
}

func container(ctx context.Context, s *zksession.Session, req lb.Request, path string) error {
	return made(zksession.Repeat(ctx, s, req, "make", func(z *zk.Conn) (string, error) {
		return z.CreateContainer(path, nil, zk.FlagContainer, open)
	}))
}

func containerOf(name, doc, section string, lay layer) lb.Impl {
	return algorithm{
		info: queueInfo(name, doc, "ZooKeeper Programmer's Guide, \""+section+"\""),
		open: func(c *client) lb.Client {
			return &queue{client: c, root: "/lockbench-" + strings.TrimPrefix(name, "zk-"), lay: lay, mode: exclusive, before: predecessor}
		},
	}
}
