// The answer to Lock comes when A's session is over and B has the lock: Lock returns nil all the same.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"google.golang.org/grpc"
)

// late is a connection on which nothing arrives as long as held is set.
type late struct{ net.Conn }

var held atomic.Bool

func (l late) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	for ; held.Load(); time.Sleep(time.Millisecond) {
	}
	return n, err
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func dial(_ context.Context, addr string) (net.Conn, error) {
	c, err := net.Dial("tcp", addr)
	return late{c}, err
}

func session(more ...grpc.DialOption) *concurrency.Session {
	c := must(clientv3.New(clientv3.Config{Endpoints: []string{append(os.Args, "localhost:2379")[1]}, DialOptions: more}))
	return must(concurrency.NewSession(c, concurrency.WithTTL(2)))
}

func main() {
	ctx, name := context.Background(), fmt.Sprint("/late-grant/", time.Now().UnixNano())
	a, b := session(grpc.WithContextDialer(dial)), session()
	held.Store(true)
	start, told := time.Now(), make(chan error)
	go func() { told <- concurrency.NewMutex(a, name).Lock(ctx) }()
	time.Sleep(500 * time.Millisecond) // A has the lock, and does not know it yet
	must(0, concurrency.NewMutex(b, name).Lock(ctx))
	fmt.Printf("%.2f s: B's Lock returned: <nil>\n", time.Since(start).Seconds())
	held.Store(false)
	must(0, <-told)
	fmt.Printf("%.2f s: A's Lock returned: <nil>\npromised: Lock locks the mutex, or returns an error\n", time.Since(start).Seconds())
}
