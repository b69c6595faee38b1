package redisconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// DialCluster makes a client of the cluster that the servers of env are. It sends each request to the master of its key, and
// again where another master is named instead of an answer: the one that was asked has done nothing then. What may
// have been done it does not send again, as the library would by default.
func DialCluster(ctx context.Context, env *lb.Env) (*redis.ClusterClient, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("redis: the run has no server")
	}
	other, err := ways(ctx, env)
	if err != nil {
		return nil, err
	}
	o := options(env, "")
	c := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:           env.Servers,
		MaxRetries:      o.MaxRetries,
		DialerRetries:   o.DialerRetries,
		DialTimeout:     o.DialTimeout,
		ReadTimeout:     o.ReadTimeout,
		WriteTimeout:    o.WriteTimeout,
		PoolSize:        o.PoolSize, // of each server
		DisableIdentity: o.DisableIdentity,

		ContextTimeoutEnabled:    o.ContextTimeoutEnabled,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		DisableRoutingPolicies:   true, // they are for commands without a key
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return (&net.Dialer{Timeout: o.DialTimeout}).DialContext(ctx, network, cmp.Or(other[addr], addr))
		},
	})
	c.OnNewNode(func(one *redis.Client) { one.AddHook(once{c}) })
	return c, nil
}

// ways are how servers are reached by the addresses that they tell of each other, as far as that is another way: what stands
// between a client and a server, such as a relay, they do not know. One of them must answer.
func ways(ctx context.Context, env *lb.Env) (map[string]string, error) {
	known, err := anybody(ctx, env)
	if err != nil {
		return nil, err
	}
	var (
		asked sync.WaitGroup
		mu    sync.Mutex
		all   = map[string]string{}
	)
	for _, server := range env.Servers {
		if known[server] != "" {
			continue
		}
		asked.Go(func() { // one that does not answer is reached as it is announced
			if self := itself(ctx, env, server); self != "" {
				mu.Lock()
				defer mu.Unlock()
				all[self] = server
			}
		})
	}
	asked.Wait()
	return all, nil
}

// anybody is what the first that answers knows of all. Whoever hangs is not waited for.
func anybody(ctx context.Context, env *lb.Env) (map[string]string, error) {
	type answer struct {
		nodes map[string]string
		err   error
	}
	answers := make(chan answer, len(env.Servers))
	for _, server := range env.Servers {
		go func() {
			nodes, err := nodes(ctx, env, server)
			answers <- answer{nodes, err}
		}()
	}
	var errs []error
	for range env.Servers {
		a := <-answers
		if a.err == nil {
			return a.nodes, nil
		}
		errs = append(errs, a.err)
	}
	return nil, fmt.Errorf("redis: connect to the cluster of %v: %w", env.Servers, errors.Join(errs...))
}

// itself is the address by which others know the server, "" if it does not say.
func itself(ctx context.Context, env *lb.Env, server string) string {
	all, _ := nodes(ctx, env, server)
	for addr, flags := range all {
		if strings.Contains(flags, "myself") {
			return addr
		}
	}
	return ""
}

// nodes are the servers of the cluster that one of them knows, by their addresses, with what it says of each.
func nodes(ctx context.Context, env *lb.Env, server string) (map[string]string, error) {
	c := redis.NewClient(options(env, server))
	defer c.Close()
	text, err := c.ClusterNodes(ctx).Result()
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 2 { // id, address, flags, …
			addr, _, _ := strings.Cut(f[1], "@")
			all[addr] = f[2]
		}
	}
	return all, err
}

// once sees to it that what fails is not sent again, and that the library asks anew who has which key: somebody else may
// by then. What a server refuses has done nothing, and the library may ask another.
type once struct{ cluster *redis.ClusterClient }

func (once) DialHook(next redis.DialHook) redis.DialHook { return next }

func (o once) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return o.failed(ctx, next(ctx, cmd)) }
}

func (o once) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { return o.failed(ctx, next(ctx, cmds)) }
}

func (o once) failed(ctx context.Context, err error) error {
	var said redis.Error
	refused := errors.As(err, &said)
	if err != nil && !refused || redis.IsClusterDownError(err) {
		o.cluster.ReloadState(ctx)
	}
	if err == nil || refused {
		return err
	}
	return unknown{err}
}

// unknown is an error of which the library does not see what it is, and so does not try again.
type unknown struct{ error }

// Is lets see through what [Ask] and whoever gives up need; the library tries none of it again.
func (e unknown) Is(target error) bool {
	return (target == os.ErrDeadlineExceeded || target == context.DeadlineExceeded || target == context.Canceled) && errors.Is(e.error, target)
}
