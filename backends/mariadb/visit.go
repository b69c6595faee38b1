package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"
	lb "github.com/lockbench/lockbench"

	"github.com/lockbench/lockbench/lab"
)

const mark = lb.Prefix + "_run"

type visit struct{ *sql.DB }

func (v visit) Answers(ctx context.Context) error { return v.PingContext(ctx) }

// newVisit goes through the relay's own login, as the locks do.
func newVisit(_ context.Context, r lab.Relay) (lab.Visit, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.Net, cfg.Addr = lb.Prefix, lb.Prefix, "tcp", r.Addr()
	cfg.Logger, cfg.InterpolateParams = &mysql.NopLogger{}, true
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return r.Open(ctx) }
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return visit{db}, nil
}

func (v visit) Version(ctx context.Context) (text string, err error) {
	err = v.QueryRowContext(ctx, "SELECT VERSION()").Scan(&text)
	if !strings.Contains(text, "MariaDB") {
		text = "MySQL " + text
	}
	return text, err
}

func (v visit) Kept(ctx context.Context) (names []string, by string, err error) {
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
		case name == mark:
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
func (v visit) marked(ctx context.Context) (by string, err error) {
	by = "somebody"
	err = v.QueryRowContext(ctx, "SELECT who FROM "+mark).Scan(&by)
	if said := (*mysql.MySQLError)(nil); errors.As(err, &said) && said.Number == noSuchTable {
		return "", nil
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return by, err
}

// Take makes a table, and writes into it: a server without room lets tables be made.
func (v visit) Take(ctx context.Context, by string) error {
	_, err := v.ExecContext(ctx, "CREATE TABLE "+mark+" (who VARCHAR(255)) ENGINE = InnoDB")
	if said := (*mysql.MySQLError)(nil); errors.As(err, &said) && said.Number == tableExists {
		return lab.ErrTaken
	}
	if err == nil {
		_, err = v.ExecContext(ctx, "INSERT INTO "+mark+" VALUES (?)", by)
	}
	return err
}

func (v visit) Remove(ctx context.Context, names []string) (err error) {
	for _, name := range names {
		_, e := v.ExecContext(ctx, fmt.Sprintf("DROP TABLE IF EXISTS `%s`", strings.ReplaceAll(name, "`", "``")))
		err = errors.Join(err, e)
	}
	return err
}

// Leave has nobody to fear between the two: as long as the mark is there, nobody makes one.
func (v visit) Leave(ctx context.Context, by string) error {
	said, err := v.marked(ctx)
	if err == nil && said == by {
		_, err = v.ExecContext(ctx, "DROP TABLE IF EXISTS "+mark)
	}
	return err
}
