package external

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"
	lb "github.com/lockbench/lockbench"
)

const mysqlMark = lb.Prefix + "_run"

type mysqlVisit struct{ *sql.DB }

func (v mysqlVisit) answers(ctx context.Context) error { return v.PingContext(ctx) }

// visitMySQL goes through the relay's own login, as the locks do.
func visitMySQL(_ context.Context, r *relay) (visit, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.Net, cfg.Addr = lb.Prefix, lb.Prefix, "tcp", r.addr
	cfg.Logger, cfg.InterpolateParams = &mysql.NopLogger{}, true
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return r.open(ctx) }
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return mysqlVisit{db}, nil
}

func (v mysqlVisit) version(ctx context.Context) (text string, err error) {
	err = v.QueryRowContext(ctx, "SELECT VERSION()").Scan(&text)
	if !strings.Contains(text, "MariaDB") {
		text = "MySQL " + text
	}
	return text, err
}

func (v mysqlVisit) kept(ctx context.Context) (names []string, by string, err error) {
	rows, err := v.QueryContext(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'")
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	marked := false
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, "", err
		}
		switch {
		case name == mysqlMark:
			marked = true
		case strings.HasPrefix(name, lb.Prefix): // a LIKE may take capitals for small letters
			names = append(names, name)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || !marked {
		return names, "", err
	}
	by, err = v.marked(ctx)
	return names, by, err
}

// marked is what the mark says; one that says nothing was left half way.
func (v mysqlVisit) marked(ctx context.Context) (by string, err error) {
	by = "somebody"
	err = v.QueryRowContext(ctx, "SELECT who FROM "+mysqlMark).Scan(&by)
	if said := (*mysql.MySQLError)(nil); errors.As(err, &said) && said.Number == noSuchTable {
		return "", nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return by, err
}

// The numbers of errors, as MySQL has them.
const (
	tableExists = 1050
	noSuchTable = 1146
)

// take makes a table, and writes into it: a server without room lets tables be made.
func (v mysqlVisit) take(ctx context.Context, by string) error {
	_, err := v.ExecContext(ctx, "CREATE TABLE "+mysqlMark+" (who VARCHAR(255)) ENGINE = InnoDB")
	if said := (*mysql.MySQLError)(nil); errors.As(err, &said) && said.Number == tableExists {
		return errTaken
	}
	if err == nil {
		_, err = v.ExecContext(ctx, "INSERT INTO "+mysqlMark+" VALUES (?)", by)
	}
	return err
}

func (v mysqlVisit) remove(ctx context.Context, names []string) (err error) {
	for _, name := range names {
		_, e := v.ExecContext(ctx, fmt.Sprintf("DROP TABLE IF EXISTS `%s`", strings.ReplaceAll(name, "`", "``")))
		err = errors.Join(err, e)
	}
	return err
}

// leave has nobody to fear between the two: as long as the mark is there, nobody makes one.
func (v mysqlVisit) leave(ctx context.Context, by string) error {
	said, err := v.marked(ctx)
	if err == nil && said == by {
		_, err = v.ExecContext(ctx, "DROP TABLE IF EXISTS "+mysqlMark)
	}
	return err
}

func (v mysqlVisit) close() { _ = v.Close() }
