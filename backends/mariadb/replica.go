package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/lockbench/lockbench/internal/sqlrow"
	"github.com/lockbench/lockbench/lab"
)

// replica is a primary on the first host and asynchronous replicas of it on
// the others. All listen at every address of their host, because the address that
// clients use moves to the one that is promoted.
func replica(self lab.Host, all []lab.Host) lab.Program {
	p := program(self, all)
	number := 1 + slices.IndexFunc(all, func(h lab.Host) bool { return h.Name() == self.Name() })
	p = more(p, fmt.Sprintf("--server-id=%d --log-bin=binlog --bind-address=0.0.0.0", number))
	if number > 1 {
		primary := all[0].Addr()
		p.Ready = func(ctx context.Context, endpoint string) error { return Follow(ctx, endpoint, primary) }
	}
	return p
}

// follow makes the server a replica of the primary, if it is none yet, and wants
// it to be in step.
func follow(ctx context.Context, db *sql.DB, primary string) error {
	status, err := replication(ctx, db)
	if err != nil {
		return err
	}
	if status == nil {
		_, err := db.ExecContext(ctx, "CHANGE MASTER TO MASTER_HOST='"+primary+"', MASTER_USER='lockbench', MASTER_CONNECT_RETRY=1, MASTER_SSL_VERIFY_SERVER_CERT=0")
		if err == nil {
			_, err = db.ExecContext(ctx, "START SLAVE")
		}
		if err != nil {
			return err
		}
		return errors.New("it has just begun to follow")
	}
	if status["Slave_IO_Running"] != "Yes" || status["Slave_SQL_Running"] != "Yes" {
		return fmt.Errorf("not in step: %s %s", status["Last_IO_Error"], status["Last_SQL_Error"])
	}
	return nil
}

// replication is the row of SHOW SLAVE STATUS, nil on a server that follows nobody.
func replication(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SHOW SLAVE STATUS")
	if err != nil {
		return nil, err
	}
	return sqlrow.First(rows)
}

// Follow makes the MariaDB server at the endpoint a replica of the one at the address, if it is none yet, and is nil
// when it is in step.
func Follow(ctx context.Context, endpoint, primary string) error {
	return on(ctx, endpoint, func(db *sql.DB) error { return follow(ctx, db, primary) })
}

// leads reports whether the server follows nobody.
func leads(ctx context.Context, endpoint string) (leads bool, err error) {
	err = on(ctx, endpoint, func(db *sql.DB) error {
		status, err := replication(ctx, db)
		leads = err == nil && status == nil
		return err
	})
	return leads, err
}

// promote ends the following, as a failover manager does.
func promote(ctx context.Context, endpoint string) error {
	return on(ctx, endpoint, func(db *sql.DB) error {
		for _, statement := range []string{"STOP SLAVE", "RESET SLAVE ALL"} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("lab: promote %s: %s: %w", endpoint, statement, err)
			}
		}
		return nil
	})
}

// clock reads the server's clock.
func clock(ctx context.Context, endpoint string) (now time.Time, err error) {
	err = on(ctx, endpoint, func(db *sql.DB) error {
		var micros int64
		err := db.QueryRowContext(ctx, "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)").Scan(&micros)
		now = time.UnixMicro(micros)
		return err
	})
	return now, err
}

// on asks as the algorithms' account.
func on(ctx context.Context, endpoint string, ask func(*sql.DB) error) error {
	db, err := open(endpoint)
	if err != nil {
		return err
	}
	defer db.Close()
	return ask(db)
}

// open connects when it is asked for something.
func open(endpoint string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.Timeout, cfg.ReadTimeout = "lockbench", "tcp", endpoint, time.Second, 5*time.Second
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
