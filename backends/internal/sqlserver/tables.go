package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// AddColumn adds a column to each table that locks are kept in, and takes it away when the command is taken back.
// A change waits for every transaction that uses the table, and all that come after wait for the change, so that
// it ends, perhaps, only then.
func AddColumn(ctx context.Context, tables []string, alter func(ctx context.Context, table, change string) error) (lab.Effect, error) {
	const column = "lockbench_added"
	if len(tables) == 0 {
		return lab.Effect{}, errors.New("there is no table of locks")
	}
	all := func(ctx context.Context, change string) error {
		for _, table := range tables {
			if err := alter(ctx, table, change); err != nil {
				return fmt.Errorf("ALTER TABLE %s: %w", table, err)
			}
		}
		return nil
	}
	start, ended := time.Now(), make(chan error, 1)
	var took time.Duration
	go func() {
		err := all(context.WithoutCancel(ctx), "ADD COLUMN IF NOT EXISTS "+column+" INT")
		took = time.Since(start)
		ended <- err
	}()
	return lab.Effect{End: func(ctx context.Context) (lab.Effect, error) {
		var err error
		select {
		case err = <-ended:
		case <-ctx.Done():
			err = fmt.Errorf("the tables are still being altered: %w", ctx.Err())
		}
		if err != nil {
			return lab.Effect{}, err
		}
		return lab.Effect{Count: len(tables), Told: fmt.Sprintf("added a column to %s within %.3f s", strings.Join(tables, ", "), took.Seconds())},
			all(ctx, "DROP COLUMN "+column)
	}}, nil
}

// InTurn has a statement wait for those who use the tables, and again where they took longer than it waits
// once: a holder may work for some leases in its transaction, and those behind it, too.
func InTurn(statement func() error, tookLonger func(error) bool) (err error) {
	const times = 4
	for range times {
		if err = statement(); !tookLonger(err) {
			return err
		}
	}
	return err
}
