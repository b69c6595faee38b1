// B waits to lead, and its session ends. When A resigns, B is told that it leads, and so is C.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c := must(clientv3.New(clientv3.Config{Endpoints: []string{append(os.Args, "localhost:2379")[1]}, DialTimeout: 5 * time.Second}))
	defer c.Close()
	var sessions []*concurrency.Session
	var elections []*concurrency.Election
	for range 3 {
		s := must(concurrency.NewSession(c, concurrency.WithTTL(10)))
		sessions, elections = append(sessions, s), append(elections, concurrency.NewElection(s, "/expired-waiter"))
	}
	a, b := elections[0], elections[1]
	if err := a.Campaign(ctx, "A"); err != nil {
		panic(err)
	}
	told := [3]chan error{1: make(chan error, 1), 2: make(chan error, 1)}
	for i, name := range []string{1: "B", 2: "C"} {
		if i > 0 {
			go func() { told[i] <- elections[i].Campaign(ctx, name) }()
			time.Sleep(500 * time.Millisecond) // B stands in line before C
		}
	}
	must(c.Revoke(ctx, sessions[1].Lease())) // B's session ends
	<-sessions[1].Done()
	time.Sleep(time.Second)
	ended := time.Now()
	if err := a.Resign(ctx); err != nil {
		panic(err)
	}
	errB, errC := <-told[1], <-told[2]
	fmt.Printf("B's session ended more than %v before A resigned; B's Campaign returned: %v\n", time.Second, errB)
	fmt.Printf("C's Campaign returned: %v, %v after A resigned\n", errC, time.Since(ended).Round(time.Millisecond))
	leader := must(b.Leader(ctx))
	fmt.Printf("the server says that %s leads\n", leader.Kvs[0].Value)
	fmt.Println("promised: Campaign blocks until it is elected, an error occurs, or the context is cancelled")
	if errB != nil || errC != nil || string(leader.Kvs[0].Value) != "C" {
		os.Exit(1)
	}
}
