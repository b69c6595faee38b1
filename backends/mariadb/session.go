package mariadb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// end kills the connection, and returns when it is gone, and its locks with it. The
// session is its id and where it comes from: a server that was started again counts from 1.
func end(ctx context.Context, endpoint, session string) (knew bool, err error) {
	number, host, _ := strings.Cut(session, "@")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return false, err
	}
	err = on(ctx, endpoint, func(db *sql.DB) error {
		for {
			var there bool
			err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ? AND HOST = ?", id, host).Scan(&there)
			if err != nil || !there {
				return err
			}
			knew = true
			_, err = db.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
			var refused *mysql.MySQLError
			const noSuchThread = 1094
			if err != nil && !(errors.As(err, &refused) && refused.Number == noSuchThread) {
				return err
			}
			select {
			case <-time.After(2 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return knew, err
}
