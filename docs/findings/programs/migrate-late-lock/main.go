// A service that gave up migrating, since another was at it for too long, has the lock afterwards, and for as long as it lives.
package main

import (
	"database/sql"
	"fmt"
	"os"
	"testing/fstest"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/database/pgx/v5"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	_ "github.com/jackc/pgx/v5/stdlib"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// service is one with a pool of connections of its own, as it keeps it for all that it does.
func service(table string) (*migrate.Migrate, database.Driver) {
	db := must(sql.Open("pgx", append(os.Args, "postgres://postgres@localhost:5432/postgres")[1]))
	way := must(pgx.WithInstance(db, &pgx.Config{MigrationsTable: table}))
	files := must(iofs.New(fstest.MapFS{"1_nothing.up.sql": {Data: []byte("SELECT 1")}}, "."))
	m := must(migrate.NewWithInstance("iofs", files, "pgx", way))
	m.LockTimeout = time.Second // 15 s where nobody sets it
	return m, way
}

// after is what the third service meets when the first has ended its migration.
func after(table string, givesUp bool) error {
	_, first := service(table)
	second, _ := service(table)
	third, _ := service(table)
	must(0, first.Lock()) // and migrates for two seconds
	if givesUp {
		fmt.Printf("the second: %v; ", second.Up())
	}
	time.Sleep(2 * time.Second)
	must(0, first.Unlock())
	time.Sleep(time.Second)
	err := third.Up()
	fmt.Printf("the third, when the first is done: %v\n", err)
	if givesUp {
		fmt.Println("the second again:", second.Up())
	}
	return err
}

func main() {
	if table := fmt.Sprint("lockbench_", time.Now().UnixNano()); after(table+"a", false) != nil || after(table+"b", true) == nil {
		os.Exit(1)
	}
}
