package redisconn

import (
	"errors"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"
)

// Refused is the error of an algorithm's first request where that is a single command: it
// has no effect if it did not leave, or if the server has answered with an error, as one
// that is out of memory does. A script may have done half of its work before it fails.
func Refused(err error) error {
	var said redis.Error
	if errors.As(err, &said) && !errors.Is(err, redis.Nil) {
		return lb.NoEffect(err)
	}
	return lb.Unsent(err)
}
