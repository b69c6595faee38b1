// Redis has no memory for a second. Who asked for a lock in that second waits on, when the lock is free.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func main() {
	ctx := context.Background()
	server := rueidis.ClientOption{InitAddress: []string{append(os.Args, "localhost:6379")[1]}}
	c, err := rueidis.NewClient(server)
	if err != nil {
		panic(err)
	}
	ask := func(words ...string) {
		if err := c.Do(ctx, c.B().Arbitrary(words...).Build()).Error(); err != nil {
			panic(err)
		}
	}
	lock := func(name string) <-chan error { // a client of its own waits for the lock
		locker, err := rueidislock.NewLocker(rueidislock.LockerOption{ClientOption: server})
		if err != nil {
			panic(err)
		}
		done := make(chan error, 1)
		go func() {
			_, release, err := locker.WithContext(ctx, name)
			if err == nil {
				release()
			}
			done <- err
		}()
		return done
	}
	ask("CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", "1")
	first := lock("memory")
	time.Sleep(time.Second)
	ask("CONFIG", "SET", "maxmemory", "0")
	other, start := <-lock("other"), time.Now()
	fmt.Println("there is memory again, and nobody has the lock; a client that asks now:", other)
	select {
	case err := <-first:
		fmt.Printf("WithContext returned %v, %v after that\n", err, time.Since(start))
		os.Exit(1)
	case <-time.After(20 * time.Second):
		keys, err := c.Do(ctx, c.B().Keys().Pattern("*:memory").Build()).AsStrSlice()
		fmt.Printf("20 s later WithContext still waits; keys of the lock at the server: %q (%v)\n", keys, err)
		fmt.Println("promised: it acquires the lock by waiting for it, or returns an error")
		if other != nil || err != nil || len(keys) > 0 {
			os.Exit(1)
		}
	}
}
