package mysql

import (
	"context"
	"database/sql"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

// BenchmarkUncontended compares an acquire and release by each row with the statements of
// mysql-forupdate sent by hand.
func BenchmarkUncontended(b *testing.B) {
	servers := labtest.Endpoints(labtest.Servers(b, "mariadb"))
	forUpdate := labtest.Cycle(b, ForUpdate(), servers) // makes the table
	if err := forUpdate.Do(); err != nil {
		b.Fatal(err)
	}
	hand, err := sql.Open("mysql", "lockbench@tcp("+servers[0]+")/lockbench?interpolateParams=true")
	if err != nil {
		b.Fatal(err)
	}
	defer hand.Close()
	conn, err := hand.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	contestants := []labtest.Contestant{
		{Name: "by-hand", Do: func() error { return byHand(b.Context(), conn) }},
		forUpdate,
	}
	for _, impl := range []lb.Impl{GetLock(), InsertTTL(), Insert()} {
		contestants = append(contestants, labtest.Cycle(b, impl, servers))
	}
	labtest.Compare(b, contestants...)
}

func byHand(ctx context.Context, conn *sql.Conn) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var one int
	if err := tx.QueryRowContext(ctx, "SELECT 1 FROM lockbench_forupdate WHERE name = ? FOR UPDATE", []byte("mysql-forupdate")).Scan(&one); err != nil {
		return err
	}
	return tx.Commit()
}

// BenchmarkHandOffs compares the rows whose waiters the server wakes with each other.
func BenchmarkHandOffs(b *testing.B) {
	labtest.HandOffs(b, labtest.Endpoints(labtest.Servers(b, "mariadb")), ForUpdate(), GetLock())
}
