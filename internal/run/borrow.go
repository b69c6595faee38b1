package run

import (
	"context"
	"log/slog"

	"github.com/lockbench/lockbench/lab"
)

// Borrow takes servers that are somebody else's for one run. What it returns removes all that
// the run has left there.
func Borrow(ctx context.Context, driver lab.Driver, k lab.Kind) (giveBack func(), err error) {
	if driver.Borrowed == nil || k.Name == "" {
		return func() {}, nil
	}
	if err := driver.Borrowed.Take(ctx, k); err != nil {
		return nil, err
	}
	return func() {
		if err := driver.Borrowed.GiveBack(k); err != nil { // what was recorded is whole all the same
			slog.Warn("something is left on the servers; the next run asks whether to remove it", "error", err)
		}
	}, nil
}
