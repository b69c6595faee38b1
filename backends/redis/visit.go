package redis

import (
	"context"
	"errors"
	"net"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/lockbench/lockbench/lab"
)

const mark = lb.Prefix + ":run"

type visit struct{ *redis.Client }

func newVisit(_ context.Context, r lab.Relay) (lab.Visit, error) {
	return visit{redis.NewClient(options(r))}, nil
}

// options are those of a client that goes through the relay's own login, as the locks do.
func options(r lab.Relay) *redis.Options {
	return &redis.Options{
		Addr: r.Addr(), PoolSize: 1, MaxRetries: -1, DialerRetries: 1, DisableIdentity: true, ContextTimeoutEnabled: true,
		ReadTimeout: lab.VisitBound, WriteTimeout: lab.VisitBound,
		Dialer:                   func(ctx context.Context, _, _ string) (net.Conn, error) { return r.Open(ctx) },
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

func (v visit) Answers(ctx context.Context) error { return v.Ping(ctx).Err() }

func (v visit) Version(ctx context.Context) (string, error) {
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

func (v visit) Kept(ctx context.Context) (names []string, by string, err error) {
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

func (v visit) Take(ctx context.Context, by string) error {
	ours, err := v.SetNX(ctx, mark, by, 0).Result()
	if err == nil && !ours {
		return lab.ErrTaken
	}
	return elsewhere(err)
}

func (v visit) Remove(ctx context.Context, names []string) error {
	return elsewhere(v.Del(ctx, names...).Err())
}

// unmark deletes the mark if it says that.
const unmark = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

func (v visit) Leave(ctx context.Context, by string) error {
	return elsewhere(v.Eval(ctx, unmark, []string{mark}, by).Err())
}

// elsewhere is lab.ErrNotHere of a replica.
func elsewhere(err error) error {
	if redis.HasErrorPrefix(err, "READONLY") {
		return lab.ErrNotHere
	}
	return err
}
