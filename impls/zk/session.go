// Package zk holds the lock algorithms on ZooKeeper, one a file.
package zk

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// algorithm is an lb.Impl made of its description and its way to be a client.
type algorithm struct {
	info lb.Info
	open func(*client) lb.Client
}

func (a algorithm) Info() lb.Info { return a.info }

func (a algorithm) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("zk: the run has no server")
	}
	c := &client{env: env}
	s, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	if granted := s.Timeout(); granted < env.TTL { // by the server's maxSessionTimeout
		short := *env
		short.TTL = granted
		c.env = &short
	}
	return a.open(c), nil
}

// client is one participant: a session, and after its end another. An acquisition
// belongs to the session that it was made in and ends with it.
type client struct {
	env      *lb.Env
	held     lb.Held[*ticket]
	sessions zksession.Sessions
}

// current is the client's session; a new one if the last is over.
func (c *client) current(ctx context.Context) (*zksession.Session, error) {
	s, err := c.sessions.Current(ctx, c.env)
	if err != nil {
		return nil, fmt.Errorf("zk: %w", err)
	}
	return s, nil
}

// Close implements lb.Client: a lock ends with the session.
func (c *client) Close() error {
	for _, t := range c.held.All() {
		t.stop()
	}
	c.sessions.Close()
	return nil
}

// node is the path of a lock below the algorithm's root. The name is escaped,
// and preceded by a character, since "", "." and ".." name no node.
func node(root, lock string) string { return root + "/_" + url.PathEscape(lock) }

var open = zk.WorldACL(zk.PermAll)

// persistent makes a node that stays; one that is there already is as good.
func persistent(ctx context.Context, s *zksession.Session, req lb.Request, path string) error {
	return made(zksession.Repeat(ctx, s, req, "make", func(z *zk.Conn) (string, error) {
		return z.Create(path, nil, zk.FlagPersistent, open)
	}))
}

func made(_ string, err error) error {
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

// watchDelete sends the request for a watch of the node. It is not set where
// the node is gone already, and then the channel is nil.
func watchDelete(ctx context.Context, s *zksession.Session, req lb.Request, path string) (<-chan zk.Event, error) {
	deleted, err := zksession.Repeat(ctx, s, req, "watch", func(z *zk.Conn) (<-chan zk.Event, error) {
		_, _, ch, err := z.GetW(path)
		return ch, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return deleted, err
}

// await waits for the server to say that the watched node is gone. The library
// sets watches again when it reconnects, and drops them with the session.
func (c *client) await(ctx context.Context, req lb.Request, s *zksession.Session, deleted <-chan zk.Event) error {
	return c.env.Wait(ctx, req, "watch", func(ctx context.Context) error {
		select {
		case ev := <-deleted:
			return ev.Err
		case <-s.Gone():
			return zksession.ErrGone
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}
