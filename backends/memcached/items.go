package memcached

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// item is one that the server has, and how many bytes it takes of its memory.
type item struct {
	key  string
	size int
}

// items lists all, one of which the time is over perhaps among them. The server can't list them for two at once.
func items(ctx context.Context, c *Conn) (all []item, err error) {
	const moment = 10 * time.Millisecond
	lines, err := c.lines(ctx, "lru_crawler metadump all")
	for said := Refusal(""); errors.As(err, &said) && strings.HasPrefix(string(said), busy); {
		select {
		case <-time.After(moment):
			lines, err = c.lines(ctx, "lru_crawler metadump all")
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		one := item{}
		for _, field := range strings.Fields(line) {
			switch name, value, _ := strings.Cut(field, "="); name {
			case "key":
				if one.key, err = url.PathUnescape(value); err != nil {
					return nil, fmt.Errorf("list its items: %w", err)
				}
			case "size":
				if _, err := fmt.Sscan(value, &one.size); err != nil {
					return nil, fmt.Errorf("list its items: %q: %w", line, err)
				}
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// keeps counts the items.
func keeps(ctx context.Context, endpoint string) (k lab.Keeps, err error) {
	err = on(ctx, endpoint, func(ctx context.Context, c *Conn) error {
		all, err := items(ctx, c)
		k = lab.Keeps{"items": len(all)}
		return err
	})
	return k, err
}
