package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// looks is how long a server may take to find a connection that was idle for a second.
const looks = 2 * time.Second

// closeIdle closes connections that say nothing for a second, a limit that somebody
// sets who finds too many of them open.
func closeIdle(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = ask(at.Endpoint, patient, func(c *redis.Client) error {
		before, err := connections(ctx, c)
		if err != nil {
			return err
		}
		set := time.Now()
		restore, err := configure(ctx, c, "timeout", "1")
		e = lab.Effect{Told: "closes idle connections", End: func(ctx context.Context) (e lab.Effect, err error) {
			err = ask(at.Endpoint, patient, func(c *redis.Client) error {
				after, err := connections(ctx, c)
				e = idleEnded(at.Client, before, after, time.Since(set) >= time.Second+looks)
				return errors.Join(err, restore(ctx, c))
			})
			return e, err
		}}
		return err
	})
	return e, err
}

// idleEnded compares the connections before with those after. Who listens to a channel is never
// idle to Redis, and what else is still there after so long has said something now and then.
func idleEnded(client string, before, after map[string]connection, long bool) (e lab.Effect) {
	closed, kept := 0, 0
	for id, one := range before {
		_, open := after[id]
		switch {
		case !open && one.isFrom(client):
			closed++
			e.Count++ // of others the lock may have no need
		case !open:
			closed++
		case one.isFrom(client) && !one.listens:
			kept++
		}
	}
	e.Told = fmt.Sprintf("closed %s of %d for being idle, %d of them from %s", english.Count(closed, "connection"), len(before), e.Count, client)
	if e.Immune = long && e.Count == 0 && kept > 0; e.Immune {
		e.Told += fmt.Sprintf("; it kept %d, which were never silent for so long: this can't strike such a lock", kept)
	}
	return e
}
