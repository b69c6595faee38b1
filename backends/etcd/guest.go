package etcd

import (
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/lockbench/lockbench/lab"
)

// Guest is how lockbench is let in.
func Guest() *lab.Guest {
	return &lab.Guest{Gateway: gateway, Visit: newVisit, Means: means, Speaks: []string{"h2"}}
}

// means knows the errors of etcd.
func means(err error) error {
	is := func(one error) bool { return errors.Is(err, one) }
	switch {
	case is(rpctypes.ErrAuthFailed), is(rpctypes.ErrUserEmpty), is(rpctypes.ErrPermissionDenied), is(rpctypes.ErrInvalidAuthToken), is(rpctypes.ErrAuthNotEnabled):
		return fmt.Errorf("%w: %w", lab.ErrNotLetIn, err)
	case is(rpctypes.ErrNoSpace):
		return fmt.Errorf("%w: %w", lab.ErrNoRoom, err)
	}
	return err
}
