package redis

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/lab"
)

// Guest is how lockbench is let in.
func Guest() *lab.Guest {
	return &lab.Guest{Login: login, Visit: newVisit, Means: means, Master: master, Alone: true}
}

// means reads the word with which Redis begins an error.
func means(err error) error {
	is := func(word string) bool { return redis.HasErrorPrefix(err, word) }
	switch {
	case is("NOAUTH"), is("WRONGPASS"), is("NOPERM"):
		return fmt.Errorf("%w: %w", lab.ErrNotLetIn, err)
	case is("MISCONF"), is("OOM"):
		return fmt.Errorf("%w: %w", lab.ErrNoRoom, err)
	case strings.Contains(err.Error(), "invalid reply"): // the library has no error for it
		return fmt.Errorf("%w: %w", lab.ErrOther, err)
	}
	return err
}
