package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// commands are what people do to a Redis server.
var commands = map[lab.Operation]lab.Command{
	lab.FlushAll:    flushAll,
	lab.ScriptFlush: scriptFlush,
	lab.EvictTTL:    evict("volatile-ttl"),
	lab.EvictLRU:    evict("allkeys-lru"),
	lab.FillMemory:  fillMemory,
	lab.IdleTimeout: closeIdle,
	lab.KillSession: killSession,
	lab.Snapshot:    snapshot,
}

func flushAll(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = ask(at.Endpoint, patient, func(c *redis.Client) error {
		keys, err := c.Keys(ctx, "*").Result()
		if err != nil {
			return err
		}
		e = lab.Effect{Count: len(keys), Told: fmt.Sprintf("forgot %s%s", english.Count(len(keys), "key"), some(keys))}
		return c.FlushAll(ctx).Err()
	})
	return e, err
}

func scriptFlush(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = ask(at.Endpoint, patient, func(c *redis.Client) error {
		info, err := section(ctx, c, "memory")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(info["number_of_cached_scripts"])
		e = lab.Effect{Count: n, Told: "forgot " + english.Count(n, "script")}
		return errors.Join(err, c.ScriptFlush(ctx).Err())
	})
	return e, err
}

// fillMemory lets the memory that is used be all that there is. Without a policy of
// eviction, which is the default, the server then refuses whatever needs more.
func fillMemory(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = ask(at.Endpoint, patient, func(c *redis.Client) error {
		before, err := refusals(ctx, c)
		if err != nil {
			return err
		}
		restore, err := configure(ctx, c, "maxmemory-policy", "noeviction", "maxmemory", "1")
		e = lab.Effect{Told: "has no memory left", End: func(ctx context.Context) (e lab.Effect, err error) {
			err = ask(at.Endpoint, patient, func(c *redis.Client) error {
				after, err := refusals(ctx, c)
				n := after - before
				e = lab.Effect{Count: n, Told: "had no memory left and refused " + english.Count(n, "request")}
				return errors.Join(err, restore(ctx, c))
			})
			return e, err
		}}
		return err
	})
	return e, err
}

// refusals are how many requests the server has refused for want of memory.
func refusals(ctx context.Context, c *redis.Client) (int, error) {
	info, err := section(ctx, c, "errorstats")
	if err != nil || info["errorstat_OOM"] == "" {
		return 0, err
	}
	return strconv.Atoi(strings.TrimPrefix(info["errorstat_OOM"], "count="))
}

// killSession closes the connections that come from a client's host.
func killSession(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = ask(at.Endpoint, patient, func(c *redis.Client) error {
		all, err := connections(ctx, c)
		for id, one := range all {
			if one.isFrom(at.Client) {
				n, gone := c.ClientKillByFilter(ctx, "ID", id).Result()
				e.Count, err = e.Count+int(n), errors.Join(err, gone)
			}
		}
		e.Told = fmt.Sprintf("killed %s from %s", english.Count(e.Count, "connection"), at.Client)
		return err
	})
	return e, err
}

// connection is one of a client's: where it comes from, and whether it has subscribed.
type connection struct {
	from    string
	listens bool
}

func (c connection) isFrom(host string) bool { return strings.HasPrefix(c.from, host+":") }

// connections are the clients' connections by id. One that has subscribed is a client's as any
// other.
func connections(ctx context.Context, c *redis.Client) (map[string]connection, error) {
	self, err := c.ClientID(ctx).Result()
	if err != nil {
		return nil, err
	}
	all := map[string]connection{}
	for _, kind := range []string{"normal", "pubsub"} {
		list, listed := c.Do(ctx, "CLIENT", "LIST", "TYPE", kind).Text()
		err = errors.Join(err, listed)
		for line := range strings.Lines(list) {
			id, one := "", connection{listens: kind == "pubsub"}
			for _, field := range strings.Fields(line) {
				if v, ok := strings.CutPrefix(field, "id="); ok {
					id = v
				} else if v, ok := strings.CutPrefix(field, "addr="); ok {
					one.from = v
				}
			}
			if id != strconv.FormatInt(self, 10) {
				all[id] = one
			}
		}
	}
	return all, err
}

// configure sets options, given as names and values. What it returns sets them back to
// what they were, the last first.
func configure(ctx context.Context, c *redis.Client, options ...string) (restore func(context.Context, *redis.Client) error, err error) {
	var were []string
	restore = func(ctx context.Context, c *redis.Client) (err error) {
		for pair := range slices.Chunk(were, 2) {
			err = errors.Join(err, c.ConfigSet(ctx, pair[0], pair[1]).Err())
		}
		return err
	}
	for pair := range slices.Chunk(options, 2) {
		was, err := c.ConfigGet(ctx, pair[0]).Result()
		if err == nil {
			were = append([]string{pair[0], was[pair[0]]}, were...)
			err = c.ConfigSet(ctx, pair[0], pair[1]).Err()
		}
		if err != nil {
			return restore, errors.Join(fmt.Errorf("CONFIG SET %s %s: %w", pair[0], pair[1], err), restore(ctx, c))
		}
	}
	return restore, nil
}

// section is a section of INFO by name.
func section(ctx context.Context, c *redis.Client, section string) (map[string]string, error) {
	text, err := c.Info(ctx, section).Result()
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			all[name] = value
		}
	}
	return all, err
}

// some is a few of the names, in brackets, or nothing for none.
func some(names []string) string {
	const few = 3
	slices.Sort(names)
	switch {
	case len(names) == 0:
		return ""
	case len(names) > few:
		return " (" + strings.Join(names[:few], ", ") + ", …)"
	}
	return " (" + strings.Join(names, ", ") + ")"
}
