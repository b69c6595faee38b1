package redis

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/redisconn"
	"github.com/lockbench/lockbench/impls/peers"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/redis/go-redis/v9"
)

// BenchmarkUncontended compares an acquire and release by each row with two PINGs, and
// with the commands of redis-setpx-lua sent by hand.
func BenchmarkUncontended(b *testing.B) {
	one := labtest.Endpoints(labtest.Servers(b, "redis"))
	ctx := b.Context()
	nodes, err := redisconn.Dial(ctx, labtest.Env(one, "hand"))
	if err != nil {
		b.Fatal(err)
	}
	defer redisconn.Close(nodes)
	hand := nodes[0]
	contestants := []labtest.Contestant{
		{Name: "two-pings", Do: func() error {
			for range 2 {
				if err := hand.Ping(ctx).Err(); err != nil {
					return err
				}
			}
			return nil
		}},
		{Name: "by-hand", Do: func() error { return byHand(ctx, hand) }},
	}
	for _, impl := range []lb.Impl{SetPXLua(), Fenced(), Watchdog(), Reentrant(), Fair(), ReadWrite(), peers.Redislock(), peers.Redsync(), peers.Rueidislock()} {
		contestants = append(contestants, labtest.Cycle(b, impl, one))
	}
	labtest.Compare(b, contestants...)
}

// BenchmarkRedlock compares five servers with one, and with the least that five cost: the
// same commands written to five bare connections, one after the other, before the answers
// are read.
func BenchmarkRedlock(b *testing.B) {
	one, five := labtest.Endpoints(labtest.Servers(b, "redis")), labtest.Endpoints(labtest.Servers(b, "redis-5"))
	labtest.Compare(b, labtest.Cycle(b, SetPXLua(), one), labtest.Cycle(b, Redlock(), five),
		labtest.Contestant{Name: "bare-five", Do: bare(b, five)})
}

func bare(b *testing.B, servers []string) func() error {
	var conns []net.Conn
	for _, s := range servers {
		c, err := net.Dial("tcp", s)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		conns = append(conns, c)
	}
	answer := make([]byte, 100)
	onAll := func(words ...string) error {
		command := fmt.Sprintf("*%d\r\n", len(words))
		for _, w := range words {
			command += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
		}
		for _, c := range conns {
			if _, err := c.Write([]byte(command)); err != nil {
				return err
			}
		}
		for _, c := range conns {
			if n, err := c.Read(answer); err != nil || answer[0] == '-' {
				return fmt.Errorf("%s %w", answer[:n], err)
			}
		}
		return nil
	}
	if err := onAll("SCRIPT", "LOAD", compareAndDeleteSource); err != nil {
		b.Fatal(err)
	}
	return func() error {
		if err := onAll("SET", "bare", "owner", "PX", "60000", "NX"); err != nil {
			return err
		}
		return onAll("EVALSHA", compareAndDelete.Hash(), "1", "bare", "owner")
	}
}

func byHand(ctx context.Context, rdb *redis.Client) error {
	if err := rdb.SetNX(ctx, "by-hand", "owner", time.Minute).Err(); err != nil {
		return err
	}
	return compareAndDelete.Run(ctx, rdb, []string{"by-hand"}, "owner").Err()
}

// BenchmarkHandOffs compares the rows that push with the best of the libraries that poll,
// and with one that pushes.
func BenchmarkHandOffs(b *testing.B) {
	labtest.HandOffs(b, labtest.Endpoints(labtest.Servers(b, "redis")),
		peers.Redislock(), SetPXLua(), Watchdog(), Reentrant(), Fair(), ReadWrite(), peers.Rueidislock())
}
