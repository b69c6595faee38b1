package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// The ballast that fills a server's memory: keys that end long after every lease.
const (
	ballastPrefix = "lockbench-ballast:" + sameSlot
	ballastSize   = 32 << 10 // bytes of each value
	ballastRoom   = 4 << 20  // bytes that are left for it
	ballastKeys   = 64       // that are written at once
	ballastLife   = time.Hour
)

// evict fills a server that evicts by the policy, until it has evicted every key that
// was there and that the policy allows to evict. That is a cache which locks are kept in,
// too: by volatile-ttl a lock, whose lease ends soon, goes before all that is cached.
func evict(policy string) lab.Command {
	return func(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
		err = ask(at.Endpoint, patient, func(c *redis.Client) error {
			theirs, err := evictable(ctx, c, policy)
			if err != nil {
				return err
			}
			info, err := section(ctx, c, "memory")
			if err != nil {
				return err
			}
			var used int
			if _, err := fmt.Sscan(info["used_memory"], &used); err != nil {
				return err
			}
			restore, err := configure(ctx, c, "notify-keyspace-events", "Ee",
				"maxmemory-policy", policy, "maxmemory", fmt.Sprint(used+ballastRoom))
			if err != nil {
				return err
			}
			gone, err := crowdOut(ctx, c, theirs)
			e = lab.Effect{Count: len(gone), Told: fmt.Sprintf("evicted %s by %s%s", english.Count(len(gone), "key"), policy, some(gone))}
			told := e
			e.End = func(ctx context.Context) (lab.Effect, error) {
				return told, ask(at.Endpoint, patient, func(c *redis.Client) error { return errors.Join(unload(ctx, c), restore(ctx, c)) })
			}
			return err
		})
		return e, err
	}
}

// evictable are the keys that the policy may evict.
func evictable(ctx context.Context, c *redis.Client, policy string) (map[string]bool, error) {
	keys, err := c.Keys(ctx, "*").Result()
	all := map[string]bool{}
	for _, key := range keys {
		ends, e := c.PTTL(ctx, key).Result()
		err = errors.Join(err, e)
		if ends > 0 || !strings.HasPrefix(policy, "volatile-") {
			all[key] = true
		}
	}
	return all, err
}

// crowdOut writes ballast until all those keys have been evicted, as the server itself
// tells, or are gone otherwise, for a second at most.
func crowdOut(ctx context.Context, c *redis.Client, theirs map[string]bool) (evicted []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	told := c.PSubscribe(ctx, "__keyevent@*__:evicted")
	defer told.Close()
	if _, err := told.Receive(ctx); err != nil {
		return nil, err
	}
	value, gone := strings.Repeat("x", ballastSize), map[string]bool{}
	for n := 0; len(theirs) > 0 && ctx.Err() == nil; n++ {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range ballastKeys {
				p.Set(ctx, fmt.Sprintf("%s%d", ballastPrefix, n*ballastKeys+i), value, ballastLife)
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		for more := true; more; {
			select {
			case m := <-told.Channel(redis.WithChannelSize(1 << 14)):
				if theirs[m.Payload] {
					gone[m.Payload] = true
					delete(theirs, m.Payload)
				}
			default:
				more = false
			}
		}
	}
	return slices.Collect(maps.Keys(gone)), nil
}

// unload removes the ballast.
func unload(ctx context.Context, c *redis.Client) error {
	keys := c.Scan(ctx, 0, ballastPrefix+"*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := c.Unlink(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}
