package postgres

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	lb "github.com/lockbench/lockbench"

	"github.com/lockbench/lockbench/lab"
)

const mark = lb.Prefix + "_run"

type visit struct{ conn *pgx.Conn }

// options leave nothing to the variables of the environment by which people set their own
// client up.
const options = "host=server port=5432 user=" + lb.Prefix + " database=" + lb.Prefix + " application_name=" + lb.Prefix +
	" sslmode=disable channel_binding=disable target_session_attrs=any options='' client_encoding=UTF8 min_protocol_version=3.0 max_protocol_version=3.0"

// newVisit goes through the relay's own login, as the locks do.
func newVisit(ctx context.Context, r lab.Relay) (lab.Visit, error) {
	cfg, err := pgx.ParseConfig(options)
	if err != nil {
		return nil, err
	}
	cfg.RequireAuth = "" // the relay is asked, not this client
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return r.Open(ctx) }
	cfg.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // a question is one round trip
	c, err := pgx.ConnectConfig(ctx, cfg)
	if said := (*pgconn.PgError)(nil); errors.As(err, &said) {
		return nil, said // the rest is of addresses that are none
	}
	if err != nil {
		return nil, err
	}
	return visit{c}, nil
}

// Answers implements [lab.Visit].
func (v visit) Answers(ctx context.Context) error {
	_, err := v.conn.Exec(ctx, "SELECT 1")
	return err
}

// Version leaves out of what machine and what compiler it is.
func (v visit) Version(ctx context.Context) (text string, err error) {
	if err := v.conn.QueryRow(ctx, "SELECT version()").Scan(&text); err != nil {
		return "", err
	}
	words := strings.Fields(text)
	return strings.Join(words[:min(2, len(words))], " "), nil
}

// Kept implements [lab.Visit]: tables. Advisory locks are nothing that is kept.
func (v visit) Kept(ctx context.Context) (names []string, by string, err error) {
	rows, err := v.conn.Query(ctx, "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND starts_with(tablename, $1)", lb.Prefix)
	if err != nil {
		return nil, "", err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, "", err
	}
	for _, name := range all {
		if name != mark {
			names = append(names, name)
			continue
		}
		if by, err = v.marked(ctx); err != nil {
			return nil, "", err
		}
	}
	return names, by, nil
}

// marked is what the mark says, "" where there is none by now.
func (v visit) marked(ctx context.Context) (by string, err error) {
	by = "somebody"
	err = v.conn.QueryRow(ctx, "SELECT who FROM "+mark).Scan(&by)
	switch {
	case code(err) == noSuchTable:
		return "", nil
	case errors.Is(err, pgx.ErrNoRows):
		err = nil
	}
	return by, err
}

// Take makes a table. Of two that do at once, the second waits for the first, and then finds the table, its row in
// the catalogue or the type of its rows, depending on how far it was.
func (v visit) Take(ctx context.Context, by string) error {
	err := pgx.BeginFunc(ctx, v.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "CREATE TABLE "+mark+" (who text)"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO "+mark+" VALUES ($1)", by)
		return err
	})
	switch code(err) {
	case tableExists, duplicateKey, duplicateName:
		return lab.ErrTaken
	}
	return elsewhere(err)
}

// Remove implements [lab.Visit].
func (v visit) Remove(ctx context.Context, names []string) (err error) {
	for _, name := range names {
		_, e := v.conn.Exec(ctx, "DROP TABLE IF EXISTS "+pgx.Identifier{name}.Sanitize())
		err = errors.Join(err, e)
	}
	return elsewhere(err)
}

// Leave has nobody to fear between the two: as long as the mark is there, nobody makes one.
func (v visit) Leave(ctx context.Context, by string) error {
	said, err := v.marked(ctx)
	if err == nil && said == by {
		_, err = v.conn.Exec(ctx, "DROP TABLE IF EXISTS "+mark)
	}
	return elsewhere(err)
}

// elsewhere is lab.ErrNotHere of a server that copies from another.
func elsewhere(err error) error {
	if code(err) == readOnly {
		return lab.ErrNotHere
	}
	return err
}

// Close waits for a server that does not answer no longer than that.
func (v visit) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return v.conn.Close(ctx)
}
