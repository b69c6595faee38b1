package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// redisLogin sends AUTH. A Sentinel may have no password where its servers have one.
func redisLogin(r *relay, _, server net.Conn) (net.Conn, error) {
	if r.config.Password == "" {
		return server, nil
	}
	words := []string{"AUTH", r.config.Password}
	if r.config.User != "" {
		words = []string{"AUTH", r.config.User, r.config.Password}
	}
	var command strings.Builder
	fmt.Fprintf(&command, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := server.Write([]byte(command.String())); err != nil {
		return nil, err
	}
	answer, err := bufio.NewReader(server).ReadString('\n') // one line; nothing else was asked
	switch {
	case err != nil:
		return nil, err
	case answer[0] == '+' || r.sentinel && strings.Contains(answer, "without any password configured"):
		return server, nil
	}
	return nil, fmt.Errorf("%w: %s", errNotLetIn, strings.TrimSpace(answer[1:]))
}

const mark = lb.Prefix + ":run"

// named asks a Sentinel for the master of the name.
func (r *relay) named(ctx context.Context, master string) (addr string, err error) {
	c := redis.NewSentinelClient(r.redisOptions())
	defer c.Close()
	at, err := c.GetMasterAddrByName(ctx, master).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "", fmt.Errorf("it knows no master called %q", master)
	case err != nil:
		return "", err
	}
	return net.JoinHostPort(at[0], at[1]), nil
}

func (r *relay) redisOptions() *redis.Options {
	return &redis.Options{
		Addr: r.addr, PoolSize: 1, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true, ContextTimeoutEnabled: true,
		ReadTimeout: visitBound, WriteTimeout: visitBound,
		Dialer:                   func(ctx context.Context, _, _ string) (net.Conn, error) { return r.open(ctx) },
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

type redisVisit struct{ *redis.Client }

func visitRedis(_ context.Context, r *relay) (visit, error) {
	return redisVisit{redis.NewClient(r.redisOptions())}, nil
}

func (v redisVisit) answers(ctx context.Context) error { return v.Ping(ctx).Err() }

func (v redisVisit) version(ctx context.Context) (string, error) {
	text, err := v.Info(ctx, "server").Result()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if number, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); ok {
			return "Redis " + number, nil
		}
	}
	return "", errors.New("its INFO has no redis_version")
}

func (v redisVisit) kept(ctx context.Context) (names []string, by string, err error) {
	all := v.Scan(ctx, 0, lb.Prefix+"*", 1000).Iterator()
	for all.Next(ctx) {
		if all.Val() != mark {
			names = append(names, all.Val())
		}
	}
	if err := all.Err(); err != nil {
		return nil, "", err
	}
	if by, err = v.Get(ctx, mark).Result(); errors.Is(err, redis.Nil) {
		err = nil
	}
	return names, by, err
}

func (v redisVisit) take(ctx context.Context, by string) error {
	ours, err := v.SetNX(ctx, mark, by, 0).Result()
	if err == nil && !ours {
		return errTaken
	}
	return elsewhere(err)
}

func (v redisVisit) remove(ctx context.Context, names []string) error {
	return elsewhere(v.Del(ctx, names...).Err())
}

// unmark deletes the mark if it says that.
const unmark = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

func (v redisVisit) leave(ctx context.Context, by string) error {
	return elsewhere(v.Eval(ctx, unmark, []string{mark}, by).Err())
}

// elsewhere is errNotHere of a replica.
func elsewhere(err error) error {
	if redis.HasErrorPrefix(err, "READONLY") {
		return errNotHere
	}
	return err
}

func (v redisVisit) close() { _ = v.Close() }
