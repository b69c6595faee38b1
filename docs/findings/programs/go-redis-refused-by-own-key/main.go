// The answer to SetNX is lost: go-redis sends it again, and tells the client that its own key is somebody else's.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// lossy is a connection that loses all answers from when lose was set, if it was there then.
type lossy struct {
	net.Conn
	lost bool
}

var lose atomic.Bool

func (l *lossy) Read(b []byte) (int, error) {
	for {
		n, err := l.Conn.Read(b)
		l.lost = l.lost || lose.CompareAndSwap(true, false)
		if err != nil || !l.lost {
			return n, err // or else it waits for the read timeout
		}
	}
}

func main() {
	ctx, addr := context.Background(), append(os.Args, "localhost:6379")[1]
	for _, retries := range []int{0, -1} { // 0 is the default, which is 3
		c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: retries,
			Dialer: func(_ context.Context, network, addr string) (net.Conn, error) {
				conn, err := net.Dial(network, addr)
				return &lossy{Conn: conn}, err
			}})
		if err := c.Del(ctx, "own").Err(); err != nil { // connects
			panic(err)
		}
		lose.Store(true)
		start := time.Now()
		ok, err := c.SetNX(ctx, "own", "me", time.Minute).Result()
		fmt.Printf("MaxRetries %2d: SetNX returned %v, %v after %.1f s; the key's value is %q\n",
			retries, ok, err, time.Since(start).Seconds(), c.Get(ctx, "own").Val())
		told := ok || err != nil // that it is one's own, or that nobody knows
		if told == (retries == 0) || c.Get(ctx, "own").Val() != "me" {
			os.Exit(1)
		}
	}
	fmt.Println("promised by SET: nil where NX found a key that was there; the key was not there, and is the client's own")
}
