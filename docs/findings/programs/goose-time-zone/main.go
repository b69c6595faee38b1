// Two clients of one server, whose sessions have different time zones, take goose's lock, and both have it.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3/lock"
)

// client takes the lock with a lease of 30 s from a session of that time zone.
func client(address, zone string) (free func(), granted bool) {
	db, err := sql.Open("mysql", "root@tcp("+address+")/test?parseTime=true&time_zone="+url.QueryEscape("'"+zone+"'"))
	if err != nil {
		panic(err)
	}
	l, err := lock.NewMySQLTableLocker(lock.WithTableLockTimeout(50*time.Millisecond, 5))
	if err != nil {
		panic(err)
	}
	if err = l.Lock(context.Background(), db); err != nil {
		fmt.Printf("  %s: %v\n", zone, err)
		return func() {}, false
	}
	fmt.Printf("  %s: granted\n", zone)
	return func() {
		l.Unlock(context.Background(), db)
	}, true
}

func main() {
	address := append(os.Args, "localhost:3306")[1]
	fmt.Println("of the same time zone:")
	first, _ := client(address, "+00:00")
	_, same := client(address, "+00:00")
	first()
	fmt.Println("of another:")
	_, one := client(address, "+00:00")
	last, other := client(address, "+01:00")
	last()
	fmt.Println("promised: if the process dies, others can take the lock after the lease expires, of 30 s here")
	if same || !one || !other {
		os.Exit(1)
	}
}
