package conform

import (
	"context"
	"errors"
	"fmt"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// names differ in bytes that some store of keys takes for the same, for a
// separator or for an end.
var names = []string{
	"", "\x00", "\x00\x00", "\x01", "\x7f", "\xff", "\xfe", "\xc3", "\xc3\xa9", "e\xcc\x81",
	"/", "//", "/..", "%2F", "%", " ", "  ", "+", "\t", "\n", "\r\n", "'", "\"", "\\", "`", "{", "}", "*", "?",
	"a", "A", "ä", "ss", "ß", "锁", "🔒",
	strings.Repeat("x", 200) + "1", strings.Repeat("x", 200) + "2",
}

// anyName: each of these names is a lock of its own.
func anyName(ctx context.Context, b *bench) error {
	ps, err := b.clients(ctx, 2)
	if err != nil {
		return err
	}
	var all []*held
	for _, n := range names {
		h, err := ps[0].try(ctx, b.lock+n)
		if errors.Is(err, lb.ErrHeld) {
			return fmt.Errorf("the name %q is taken for another: %w", n, err)
		} else if err != nil {
			return fmt.Errorf("the name %q: %w", n, err)
		}
		all = append(all, h)
	}
	for i, n := range names {
		if err := ps[1].refused(ctx, b.lock+n); err != nil {
			return fmt.Errorf("the name %q: %w", n, err)
		}
		if err := all[i].release(ctx); err != nil {
			return fmt.Errorf("the name %q: %w", n, err)
		}
	}
	return nil
}
