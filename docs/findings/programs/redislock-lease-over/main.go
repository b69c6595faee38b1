// The answer to Obtain comes late: the lock that it returns is over, and another client has it.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

var held atomic.Bool

// late is a connection on which nothing arrives as long as held is set.
type late struct{ net.Conn }

func (l late) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	for ; held.Load(); time.Sleep(time.Millisecond) {
	}
	return n, err
}

func main() {
	ctx, addr := context.Background(), append(os.Args, "localhost:6379")[1]
	a := redis.NewClient(&redis.Options{Addr: addr, Dialer: func(_ context.Context, network, addr string) (net.Conn, error) {
		c, err := net.Dial(network, addr)
		return late{c}, err
	}})
	b := redis.NewClient(&redis.Options{Addr: addr})
	b.Del(ctx, "late")
	l, err := redislock.Obtain(ctx, a, "late", time.Second, nil) // connects, and loads the script
	if err != nil || l.Release(ctx) != nil {
		panic(err)
	}
	held.Store(true)
	start := time.Now()
	go func() {
		for time.Sleep(500 * time.Millisecond); held.Load(); time.Sleep(50 * time.Millisecond) {
			if _, err := redislock.Obtain(ctx, b, "late", 20*time.Second, nil); err == nil {
				fmt.Printf("%.2f s: B's Obtain, with a TTL of 20 s, returned: <nil>\n", time.Since(start).Seconds())
				held.Store(false)
			}
		}
	}()
	l, obtained := redislock.Obtain(ctx, a, "late", time.Second, nil)
	fmt.Printf("%.2f s: A's Obtain, with a TTL of 1 s, returned: %v\n", time.Since(start).Seconds(), obtained)
	left, err := l.TTL(ctx)
	fmt.Printf("A's lock is good for another %v (%v)\n", left, err)
	fmt.Println("promised: Obtain tries to obtain a lock with the given TTL")
	if obtained != nil || err != nil || left > 0 {
		os.Exit(1)
	}
}
