// Two clients take goose's lock with a lease of 900 ms and a heartbeat every 150 ms: both have it, and both go on to.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3/lock"
)

// granted is how many of two clients are granted the lock within a tenth of a second, which nobody gives back meanwhile.
func granted(db *sql.DB, lease time.Duration) (n int) {
	for range 2 {
		l, err := lock.NewPostgresTableLocker(lock.WithTableLeaseDuration(lease), lock.WithTableHeartbeatInterval(150*time.Millisecond),
			lock.WithTableLockTimeout(10*time.Millisecond, 5), lock.WithTableUnlockTimeout(10*time.Millisecond, 1))
		if err != nil {
			panic(err)
		}
		if err := l.Lock(context.Background(), db); err == nil {
			n++
			defer l.Unlock(context.Background(), db)
		}
	}
	return n
}

func main() {
	db, err := sql.Open("pgx", append(os.Args, "postgres://postgres@localhost:5432/postgres")[1])
	if err != nil {
		panic(err)
	}
	whole := granted(db, time.Second)
	parts := granted(db, 900*time.Millisecond)
	fmt.Printf("with a lease of 1 s %d of 2 clients have the lock, with one of 900 ms %d\n", whole, parts)
	fmt.Println("promised: any lease above 0, for which the lock is valid if the heartbeat stops")
	if whole != 1 || parts != 2 {
		os.Exit(1)
	}
}
