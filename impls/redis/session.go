// Package redis holds the lock algorithms on Redis, one a file.
package redis

import (
	"context"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/redis/go-redis/v9"
)

// algorithm is an lb.Impl made of its description and its way to open a client.
type algorithm struct {
	info    lb.Info
	cluster bool // its servers are one
	open    func(session) lb.Client
}

func (a algorithm) Info() lb.Info { return a.info }

func (a algorithm) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	connect := dial
	if a.cluster {
		connect = dialCluster
	}
	s, err := connect(ctx, env)
	if err != nil {
		return nil, err
	}
	c := lb.Again(a.open(s))
	if !a.info.Traits.Shared {
		c = lb.Exclusive(c)
	}
	return c, nil
}

// oneServer are the topologies of the algorithms that need one server, or one that
// leads others.
var oneServer = []string{"redis", "redis-sentinel", "redis-aof"}

// session is one client's connections to its Redis servers, and what it is told
// by env.
type session struct {
	env   *lb.Env
	rdb   redis.UniversalClient // the server, or the cluster, for the algorithms that need one
	nodes []*redis.Client       // all servers, for those that need several
}

func dial(ctx context.Context, env *lb.Env) (session, error) {
	nodes, err := redisconn.Dial(ctx, env)
	if err != nil {
		return session{}, err
	}
	return session{env: env, rdb: nodes[0], nodes: nodes}, nil
}

func dialCluster(ctx context.Context, env *lb.Env) (session, error) {
	c, err := redisconn.DialCluster(ctx, env)
	if err != nil {
		return session{}, err
	}
	return session{env: env, rdb: c}, nil
}

// Close implements lb.Client for every algorithm: a Redis lock is not tied to
// its connection.
func (s session) Close() error {
	if len(s.nodes) == 0 {
		return s.rdb.Close()
	}
	return redisconn.Close(s.nodes)
}

// ask sends one command, as the request of that name. means says what its answer
// means for the algorithm. It returns when the command was sent.
func ask[T any](ctx context.Context, s session, req lb.Request, name string, command func(context.Context) (T, error), means func(T) error) (sent lb.Reading, err error) {
	err = s.env.Send(ctx, req, name, func(ctx context.Context) error {
		sent = s.env.Clock.Mono()
		answer, err := redisconn.Ask(ctx, command)
		if err != nil {
			return fmt.Errorf("redis: %s: %w", name, err)
		}
		return means(answer)
	})
	return sent, err
}

// script is a script with its arguments, which answers with a number.
type script struct {
	*redis.Script
	keys []string
	args []any
}

// run sends a script by its digest. A server that was restarted, or took over, does not
// know it by that, and is sent the whole of it, which is another request.
func (s session) run(ctx context.Context, rdb redis.Scripter, req lb.Request, name string, sc script, means func(int64) error) (sent lb.Reading, err error) {
	sent, err = ask(ctx, s, req, name, func(ctx context.Context) (int64, error) {
		return sc.EvalSha(ctx, rdb, sc.keys, sc.args...).Int64()
	}, means)
	if err == nil || !redis.HasErrorPrefix(err, "NOSCRIPT") {
		return sent, err
	}
	return ask(ctx, s, req, name, func(ctx context.Context) (int64, error) {
		return sc.Eval(ctx, rdb, sc.keys, sc.args...).Int64()
	}, means)
}

// taken is what it means that a command has set the key, or has not.
func taken(set bool) error {
	if !set {
		return lb.ErrHeld
	}
	return nil
}

// released is what the number of keys means that a release, or a renewal, has found.
func released(n int64) error {
	if n == 0 {
		return lb.ErrLost
	}
	return nil
}

const compareAndDeleteSource = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

// compareAndDelete deletes the key if its value is this acquisition's own.
var compareAndDelete = redis.NewScript(compareAndDeleteSource)

func owned(req lb.Request) script {
	return script{compareAndDelete, []string{req.Lock}, []any{req.Owner}}
}

// releaseOwn is the release of every algorithm that keeps an owner value.
func (s session) releaseOwn(ctx context.Context, req lb.Request) error {
	_, err := s.run(ctx, s.rdb, req, "compare-and-delete", owned(req), released)
	return err
}
