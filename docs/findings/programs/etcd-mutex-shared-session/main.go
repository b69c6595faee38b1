// Two goroutines with one session, each with a Mutex of its own: both have the lock.
package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{append(os.Args, "localhost:2379")[1]}, DialTimeout: 5 * time.Second})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	s, err := concurrency.NewSession(c)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	holders := make(chan string)
	var had atomic.Int32 // with a plain number two holders would be a race
	for _, name := range []string{"first", "second"} {
		go func() {
			m := concurrency.NewMutex(s, "/shared-session")
			if err := m.Lock(ctx); err != nil {
				holders <- fmt.Sprintf("%s: %v", name, err)
				return
			}
			had.Add(1)
			holders <- fmt.Sprintf("%s: Lock returned nil and its key is %s, at revision %d", name, m.Key(), m.Header().Revision)
		}()
		time.Sleep(200 * time.Millisecond)
	}
	fmt.Println(<-holders)
	fmt.Println(<-holders)
	fmt.Printf("%d hold the lock, and none has unlocked it\n", had.Load())
	fmt.Println("promised: a Mutex implements the sync Locker interface with etcd")
	if had.Load() != 2 {
		os.Exit(1)
	}
}
