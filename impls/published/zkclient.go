package published

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// zkClient is what the listing uses of the library ZkClient: every call is
// repeated until it is answered, and a session that has ended is replaced by a
// new one, without a word to the caller.
type zkClient struct {
	env      *lb.Env
	sessions zksession.Sessions
}

func newZkClient(ctx context.Context, env *lb.Env) (*zkClient, error) {
	c := &zkClient{env: env}
	_, err := c.connected(ctx)
	return c, err
}

func (c *zkClient) connected(ctx context.Context) (*zksession.Session, error) {
	return c.sessions.Current(ctx, c.env)
}

func (c *zkClient) close() { c.sessions.Close() }

// retryUntilConnected is the library's: also a create is repeated, whose node may
// be there already.
func retryUntilConnected[T any](ctx context.Context, c *zkClient, req lb.Request, name string, call func(*zk.Conn) (T, error)) (T, error) {
	for {
		s, err := c.connected(ctx)
		if err != nil {
			var none T
			return none, err
		}
		v, err := zksession.Do(ctx, s, req, name, call)
		if !zksession.Unanswered(err) && !errors.Is(err, zksession.ErrGone) || ctx.Err() != nil {
			return v, err
		}
	}
}

func (c *zkClient) exists(ctx context.Context, req lb.Request, name, path string) (bool, error) {
	return retryUntilConnected(ctx, c, req, name, func(z *zk.Conn) (bool, error) {
		exists, _, err := z.Exists(path)
		return exists, err
	})
}

func (c *zkClient) getChildren(ctx context.Context, req lb.Request, name, path string) ([]string, error) {
	return retryUntilConnected(ctx, c, req, name, func(z *zk.Conn) ([]string, error) {
		names, _, err := z.Children(path)
		return names, err
	})
}

// createPersistent takes a node that is there already for its own.
func (c *zkClient) createPersistent(ctx context.Context, req lb.Request, name, path string) error {
	_, err := retryUntilConnected(ctx, c, req, name, func(z *zk.Conn) (string, error) {
		return z.Create(path, nil, zk.FlagPersistent, zk.WorldACL(zk.PermAll))
	})
	if errors.Is(err, zk.ErrNodeExists) {
		return nil
	}
	return err
}

func (c *zkClient) createEphemeralSequential(ctx context.Context, req lb.Request, name, path string) (string, error) {
	return retryUntilConnected(ctx, c, req, name, func(z *zk.Conn) (string, error) {
		return z.Create(path, nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	})
}

func (c *zkClient) delete(ctx context.Context, req lb.Request, name, path string) error {
	_, err := retryUntilConnected(ctx, c, req, name, func(z *zk.Conn) (struct{}, error) {
		return struct{}{}, z.Delete(path, -1)
	})
	return err
}

// subscribeDataChanges calls deleted, from the library's own thread, each time
// that an event finds the node gone; a new session asks anew.
func (c *zkClient) subscribeDataChanges(ctx context.Context, req lb.Request, name, path string, deleted func()) (unsubscribe func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	_, event, err := c.watch(ctx, req, name, path)
	if err != nil {
		cancel()
		return nil, err
	}
	c.env.Go(ctx, lb.Renewal, func(ctx context.Context) { // of the watch
		for {
			select {
			case <-event:
			case <-ctx.Done():
				return
			}
			var exists bool
			if exists, event, err = c.watch(ctx, req, name, path); err != nil {
				return
			} else if !exists {
				deleted()
			}
		}
	})
	return cancel, nil
}

func (c *zkClient) watch(ctx context.Context, req lb.Request, name, path string) (exists bool, event <-chan zk.Event, err error) {
	type answer struct {
		exists bool
		event  <-chan zk.Event
	}
	a, err := retryUntilConnected(ctx, c, req, name, func(z *zk.Conn) (answer, error) {
		exists, _, event, err := z.ExistsW(path)
		return answer{exists, event}, err
	})
	return a.exists, a.event, err
}
