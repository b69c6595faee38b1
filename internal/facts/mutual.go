package facts

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/lockbench/lockbench/backends/mariadb"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/sqlrow"
)

// mutually has two databases copy each other, asks both for one key at once, and kills one.
func mutually(ctx context.Context, at bench) ([]Fact, error) {
	var dbs [2]*sql.DB
	for i, endpoint := range at.endpoints() {
		db, err := open(endpoint)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		dbs[i] = db
	}
	// The second copies the first already.
	if err := until(ctx, func() error { return mariadb.Follow(ctx, at.endpoints()[0], at.servers[1].Addr()) }); err != nil {
		return nil, err
	}
	if _, err := dbs[0].ExecContext(ctx, "CREATE TABLE locks (name VARCHAR(64) PRIMARY KEY, owner VARCHAR(64) NOT NULL) ENGINE=InnoDB"); err != nil {
		return nil, err
	}
	outlives, err := copied(ctx, dbs)
	if err != nil {
		return nil, err
	}
	once, err := grants(ctx, dbs)
	if err != nil {
		return nil, err
	}
	copies, err := copying(ctx, dbs)
	if err != nil {
		return nil, err
	}
	if err := at.servers[0].Kill(ctx); err != nil {
		return nil, err
	}
	_, err = dbs[1].ExecContext(ctx, "INSERT INTO locks VALUES ('after', 'second')")
	outlives.Holds = outlives.Holds && err == nil
	outlives.Saw += fmt.Sprintf("; when the first was killed, a new key at the second was %s", outcome(err))
	return []Fact{once, copies, outlives}, nil
}

// copied is whether a key of each is soon a key of the other.
func copied(ctx context.Context, dbs [2]*sql.DB) (Fact, error) {
	f := Fact{Name: "outlives-one-of-two", Holds: true}
	for i, db := range dbs {
		key := fmt.Sprint("copied-", i)
		if err := until(ctx, func() error { // the table itself is copied, too
			_, err := db.ExecContext(ctx, "INSERT INTO locks VALUES (?, 'one')", key)
			return err
		}); err != nil {
			return f, err
		}
		begun := time.Now()
		if err := until(ctx, func() error {
			var owner string
			return dbs[1-i].QueryRowContext(ctx, "SELECT owner FROM locks WHERE name = ?", key).Scan(&owner)
		}); err != nil {
			return f, err
		}
		f.Saw += fmt.Sprintf("%sa key of the %s is at the other after %.0f ms", map[bool]string{true: ", "}[i > 0], []string{"first", "second"}[i], time.Since(begun).Seconds()*1000)
	}
	return f, nil
}

// grants asks both for one key at once, until both have taken it.
func grants(ctx context.Context, dbs [2]*sql.DB) (Fact, error) {
	const rounds = 500 // on a busy machine one of the two often comes first
	for round := range rounds {
		var errs [2]error
		var both sync.WaitGroup
		for i, db := range dbs {
			both.Go(func() {
				_, errs[i] = db.ExecContext(ctx, "INSERT INTO locks VALUES (?, ?)", fmt.Sprint("round-", round), fmt.Sprint("owner-", i))
			})
		}
		both.Wait()
		for _, err := range errs {
			if err != nil && refusal(err) != errDuplicate {
				return Fact{}, err
			}
		}
		if errs[0] == nil && errs[1] == nil {
			return Fact{"one-key-one-owner", false, fmt.Sprintf("asked at once for one key, in round %d both databases took it, each for another owner", round+1)}, nil
		}
	}
	return Fact{"one-key-one-owner", true, fmt.Sprintf("asked at once for one key, one of the two refused it in each of %s", english.Count(rounds, "round"))}, nil
}

// copying is whether they still copy each other.
func copying(ctx context.Context, dbs [2]*sql.DB) (Fact, error) {
	f := Fact{Name: "they-go-on-copying", Holds: true, Saw: "they copy each other still"}
	if err := sleep(ctx, 2*time.Second); err != nil {
		return f, err
	}
	for i, db := range dbs {
		rows, err := db.QueryContext(ctx, "SHOW SLAVE STATUS")
		if err != nil {
			return f, err
		}
		status, err := sqlrow.First(rows)
		if err != nil {
			return f, err
		}
		if status["Slave_SQL_Running"] != "Yes" {
			f.Holds = false
			f.Saw = fmt.Sprintf("the %s has stopped copying: error %s, %s", []string{"first", "second"}[i], status["Last_SQL_Errno"], status["Last_SQL_Error"])
			return f, nil
		}
	}
	return f, nil
}

// until tries again until it works, for some seconds.
func until(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		err := try()
		if err == nil {
			return nil
		}
		if sleep(ctx, 5*time.Millisecond) != nil {
			return err
		}
	}
}
