package zookeeper

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/lockbench/lockbench/lab"
)

// Guest is how lockbench is let in.
func Guest() *lab.Guest {
	return &lab.Guest{Login: login, Visit: newVisit, Means: means}
}

// means knows the errors of the library.
func means(err error) error {
	if errors.Is(err, zk.ErrNoAuth) || errors.Is(err, zk.ErrAuthFailed) {
		return fmt.Errorf("%w: %w", lab.ErrNotLetIn, err)
	}
	return err
}
