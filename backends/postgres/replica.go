package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/lockbench/lockbench/lab"
)

// replica is a primary on the first host, with more options if need be, and replicas of it on the others. All
// listen at every address of their host, because the address that clients use moves to the one that is promoted.
func replica(options string) func(self lab.Host, all []lab.Host) lab.Program {
	return func(self lab.Host, all []lab.Host) lab.Program {
		p := program(self, all)
		p.Env = append(p.Env, "LOCKBENCH_VIRTUAL=yes")
		switch {
		case self.Name() != all[0].Name():
			p.Env = append(p.Env, "LOCKBENCH_PRIMARY="+all[0].Addr())
			p.Ready = inStep
		case options != "":
			p = more(p, options)
		}
		return p
	}
}

// inStep wants a replica to follow its primary, and a server that was promoted to answer.
func inStep(ctx context.Context, endpoint string) error {
	return on(ctx, endpoint, func(c *pgx.Conn) error {
		var follows, streams bool
		err := c.QueryRow(ctx, "SELECT pg_is_in_recovery(), EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')").Scan(&follows, &streams)
		if err == nil && follows && !streams {
			err = errors.New("it does not follow its primary yet")
		}
		return err
	})
}

// leads reports whether the server follows nobody.
func leads(ctx context.Context, endpoint string) (leads bool, err error) {
	err = on(ctx, endpoint, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "SELECT NOT pg_is_in_recovery()").Scan(&leads)
	})
	return leads, err
}

// promote ends the following, as a failover manager does. A primary that waited for a synchronous replica has
// one no more: its successor was told of none.
func promote(ctx context.Context, endpoint string) error {
	return on(ctx, endpoint, func(c *pgx.Conn) error {
		var done bool
		err := c.QueryRow(ctx, "SELECT pg_promote(wait_seconds => 10)").Scan(&done)
		if err == nil && !done {
			err = errors.New("it was not promoted within 10 s")
		}
		return err
	})
}
