package memcached

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// commands are what people do to a memcached server. How long a silent connection is kept and whether a full memory
// evicts are told at its start only, and nobody can end another's connection.
var commands = map[lab.Operation]lab.Command{
	lab.FlushAll: flushAll,
	lab.EvictLRU: evict,
}

func flushAll(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = on(ctx, at.Endpoint, func(ctx context.Context, c *Conn) error {
		all, err := items(ctx, c)
		if err != nil {
			return err
		}
		e = lab.Effect{Count: len(all), Told: "forgot " + english.Count(len(all), "item")}
		_, err = c.Ask(ctx, "flush_all")
		return err
	})
	return e, err
}

// evictMegabytes is the least that a server can be told to keep to. It may have no more than that, or filling it takes long.
const evictMegabytes = 8

// evict fills the server's memory until it has evicted every item that was there. An item goes only for another of about
// its size, and so there is ballast of each size.
func evict(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = on(ctx, at.Endpoint, func(ctx context.Context, c *Conn) error {
		theirs, err := items(ctx, c)
		if err != nil {
			return err
		}
		before, err := c.statistic(ctx, "limit_maxbytes")
		if err != nil {
			return err
		}
		b := ballast{conn: c}
		if err = b.limit(ctx, evictMegabytes); err != nil {
			return err
		}
		e.End = func(ctx context.Context) (told lab.Effect, err error) {
			err = on(ctx, at.Endpoint, func(ctx context.Context, c *Conn) error {
				b.conn = c
				return b.unload(ctx, before>>20)
			})
			return lab.Effect{Count: e.Count, Told: e.Told}, err
		}
		for _, one := range theirs {
			gone, err := b.crowdOut(ctx, one)
			if err != nil {
				return err
			}
			if gone {
				e.Count++
			}
		}
		e.Told = fmt.Sprintf("evicted %s", english.Count(e.Count, "item"))
		return nil
	})
	return e, err
}

// ballast are items that nobody wants, by their number.
type ballast struct {
	conn *Conn
	n    int
}

func (b *ballast) limit(ctx context.Context, megabytes int) error {
	said, err := b.conn.Ask(ctx, "cache_memlimit "+strconv.Itoa(megabytes))
	if err == nil && said != "OK" {
		err = fmt.Errorf("limit its memory to %d MB: it says %q", megabytes, said)
	}
	return err
}

const (
	ballastAtOnce = 4096
	ballastMost   = 64 * ballastAtOnce // is more than the memory holds of the smallest items
)

// crowdOut writes items of the size of that one until the server has evicted it.
func (b *ballast) crowdOut(ctx context.Context, one item) (gone bool, err error) {
	const overhead = 60 // of an item, beside its key and its value
	for end := b.n + ballastMost; b.n < end; {
		// What is only looked at in this way does not count as used.
		said, err := b.conn.Ask(ctx, "me "+one.key)
		if err != nil || said == "EN" {
			return true, err
		}
		var all strings.Builder
		for range ballastAtOnce {
			key := ballastKey(b.n)
			b.n++ // also where the sending fails half way: it has to be removed
			size := max(0, one.size-overhead-len(key))
			fmt.Fprintf(&all, "set %s 0 0 %d noreply\r\n%s\r\n", key, size, strings.Repeat("x", size))
		}
		if err := b.conn.send(ctx, strings.TrimSuffix(all.String(), newline)); err != nil {
			return false, err
		}
	}
	return false, nil
}

func ballastKey(n int) string { return fmt.Sprintf("ballast%d", n) }

// unload removes it, and lets the server have so much memory again.
func (b *ballast) unload(ctx context.Context, megabytes int) error {
	all := make([]string, 0, b.n)
	for n := range b.n {
		all = append(all, "delete "+ballastKey(n)+" noreply")
	}
	for some := range slices.Chunk(all, ballastAtOnce) {
		if err := b.conn.send(ctx, strings.Join(some, newline)); err != nil {
			return err
		}
	}
	return b.limit(ctx, megabytes)
}

// statistic is one of those that the server counts.
func (c *Conn) statistic(ctx context.Context, name string) (int, error) {
	all, err := c.lines(ctx, "stats")
	if err != nil {
		return 0, err
	}
	for _, line := range all {
		if value, ok := strings.CutPrefix(line, "STAT "+name+" "); ok {
			return strconv.Atoi(value)
		}
	}
	return 0, fmt.Errorf("its statistics have no %s", name)
}
