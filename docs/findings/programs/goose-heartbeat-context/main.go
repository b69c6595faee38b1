// A caller waits for goose's lock for no longer than a second, gets it at once, and holds it for five: the next one gets it meanwhile.
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

const lease = 2 * time.Second

func locker() lock.Locker {
	l, err := lock.NewPostgresTableLocker(lock.WithTableLeaseDuration(lease), lock.WithTableHeartbeatInterval(lease/6),
		lock.WithTableLockTimeout(lease/6, 60))
	if err != nil {
		panic(err)
	}
	return l
}

// hold takes the lock by a context that lives for so long, and holds it for five seconds.
func hold(db *sql.DB, life time.Duration) (another bool) {
	ctx, end := context.WithTimeout(context.Background(), life)
	defer end()
	first, second := locker(), locker()
	if err := first.Lock(ctx, db); err != nil {
		panic(err)
	}
	start := time.Now()
	limited, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := second.Lock(limited, db); err == nil {
		fmt.Printf("another client was granted it after %v\n", time.Since(start).Round(time.Millisecond))
		_ = second.Unlock(limited, db)
		return true
	}
	fmt.Println("no other client was granted it; Unlock:", first.Unlock(context.Background(), db))
	return false
}

func main() {
	db, err := sql.Open("pgx", append(os.Args, "postgres://postgres@localhost:5432/postgres")[1])
	if err != nil {
		panic(err)
	}
	fmt.Print("Lock within a minute, held for 5 s: ")
	without := hold(db, time.Minute)
	fmt.Print("Lock within a second, held for 5 s: ")
	within := hold(db, time.Second)
	fmt.Println("promised: the lock stays alive automatically until released")
	if without || !within {
		os.Exit(1)
	}
}
