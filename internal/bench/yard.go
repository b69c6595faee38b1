package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/go-zookeeper/zk"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// yard is what locks on a server are measured against, on one connection that is used
// for nothing else.
type yard struct {
	// floor is the cheapest round trip; writes are those that any lock there must make: one
	// that takes and one that gives back.
	floor, writes func(context.Context) error
	close         func()
}

const yardKey = "lockbench-yard"

// openYard connects to the first server. For kinds that it doesn't know it is nil.
func openYard(ctx context.Context, kind string, s *lab.Service) (*yard, error) {
	if len(s.Servers) == 0 {
		return nil, nil
	}
	endpoint := s.Endpoints()[0]
	switch kind {
	case "redis", "redis-replicas":
		return redisYard(endpoint), nil
	case "zookeeper":
		return zookeeperYard(ctx, endpoint)
	case "etcd":
		return etcdYard(ctx, endpoint)
	case "mariadb", "mariadb-replica":
		return mariadbYard(ctx, endpoint)
	}
	return nil, nil
}

// redisYard: PING; SET NX PX and DEL.
func redisYard(endpoint string) *yard {
	c := redis.NewClient(&redis.Options{Addr: endpoint, MaxRetries: -1, PoolSize: 1, DisableIdentity: true})
	return &yard{
		floor: func(ctx context.Context) error { return c.Ping(ctx).Err() },
		writes: func(ctx context.Context) error {
			return errors.Join(c.SetNX(ctx, yardKey, "1", time.Minute).Err(), c.Del(ctx, yardKey).Err())
		},
		close: func() { _ = c.Close() },
	}
}

// zookeeperYard: exists, of a node that is not there; create ephemeral and sequential, and
// delete.
func zookeeperYard(ctx context.Context, endpoint string) (*yard, error) {
	c, events, err := zk.Connect([]string{endpoint}, 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	if err != nil {
		return nil, err
	}
	for state := zk.StateUnknown; state != zk.StateHasSession; {
		select {
		case e := <-events:
			state = e.State
		case <-ctx.Done():
			c.Close()
			return nil, ctx.Err()
		}
	}
	go func() {
		for range events { // nobody wants the others
		}
	}()
	return &yard{
		floor: func(context.Context) error {
			_, _, err := c.Exists("/" + yardKey)
			return err
		},
		writes: func(context.Context) error {
			path, err := c.Create("/"+yardKey+"-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
			if err != nil {
				return err
			}
			return c.Delete(path, -1)
		},
		close: c.Close,
	}, nil
}

// quiet keeps the client from logging to standard error.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// etcdYard: a serializable get of a key that is not there; put and delete.
func etcdYard(ctx context.Context, endpoint string) (*yard, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop(), DialTimeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	if _, err := c.Get(ctx, yardKey); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &yard{
		floor: func(ctx context.Context) error {
			_, err := c.Get(ctx, yardKey, clientv3.WithSerializable())
			return err
		},
		writes: func(ctx context.Context) error {
			_, err := c.Put(ctx, yardKey, "1")
			if err == nil {
				_, err = c.Delete(ctx, yardKey)
			}
			return err
		},
		close: func() { _ = c.Close() },
	}, nil
}

// mariadbYard: SELECT 1; BEGIN, SELECT … FOR UPDATE, COMMIT.
func mariadbYard(ctx context.Context, endpoint string) (*yard, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.Net, cfg.Addr, cfg.InterpolateParams = "lockbench", "lockbench", "tcp", endpoint, true
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for _, q := range []string{"CREATE TABLE IF NOT EXISTS lockbench_yard (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT IGNORE INTO lockbench_yard VALUES (1)"} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return nil, fmt.Errorf("%s: %w", q, errors.Join(err, db.Close()))
		}
	}
	return &yard{
		floor: func(ctx context.Context) error { return one(ctx, c, "SELECT 1") },
		writes: func(ctx context.Context) error {
			tx, err := c.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			if err := one(ctx, tx, "SELECT id FROM lockbench_yard WHERE id = 1 FOR UPDATE"); err != nil {
				return errors.Join(err, tx.Rollback())
			}
			return tx.Commit()
		},
		close: func() { _ = c.Close(); _ = db.Close() },
	}, nil
}

func one(ctx context.Context, c interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, query string) error {
	var n int
	return c.QueryRowContext(ctx, query).Scan(&n)
}
