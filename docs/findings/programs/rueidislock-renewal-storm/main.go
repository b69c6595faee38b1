// One client holds one lock, and nobody else is there. How often is the lock renewed?
package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// renewals is how many PEXPIREAT this server has carried out.
func renewals(c rueidis.Client) int {
	info, err := c.Do(context.Background(), c.B().Info().Section("commandstats").Build()).ToString()
	check(err)
	m := regexp.MustCompile(`cmdstat_pexpireat:calls=(\d+)|$`).FindStringSubmatch(info)
	n, _ := strconv.Atoi(m[1])
	return n
}

// hold takes the lock for three seconds, and counts the renewals of each half second.
func hold(server rueidis.ClientOption, noLoop bool) (total int) {
	c, err := rueidis.NewClient(server)
	check(err)
	defer c.Close()
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: server, KeyMajority: 1, KeyValidity: 2 * time.Second, NoLoopTracking: noLoop})
	check(err)
	defer locker.Close()
	_, release, err := locker.WithContext(context.Background(), fmt.Sprint("storm-", noLoop))
	check(err)
	defer release()
	before := renewals(c)
	for i := 1; i <= 6; i++ {
		time.Sleep(500 * time.Millisecond)
		total = renewals(c) - before
		fmt.Printf("NoLoopTracking %v: %d PEXPIREAT after %.1f s\n", noLoop, total, float64(i)/2)
	}
	return total
}

func main() {
	server := rueidis.ClientOption{InitAddress: []string{append(os.Args, "localhost:6379")[1]}}
	with, without := hold(server, true), hold(server, false)
	fmt.Println("expected: a renewal every half of the validity, so 2 or 3 in 3 s")
	if without < 100 || with > 10 {
		os.Exit(1)
	}
}
