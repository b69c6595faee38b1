package etcd

import (
	"context"
	"errors"
	"fmt"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/kept"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// keeper keeps an etcd lease alive. It asks one by one, not by etcd's stream, because a renewal counts from the moment
// it was sent.
type keeper struct {
	*kept.Keeper
	id clientv3.LeaseID
}

func keep(env *lb.Env, etcd *clientv3.Client, id clientv3.LeaseID, call lb.Reading) *keeper {
	return &keeper{id: id, Keeper: kept.Keep(env, call, func(ctx context.Context, req lb.Request) error {
		_, err := etcd.KeepAliveOnce(For(ctx, req), id)
		if errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return fmt.Errorf("%w: %w", lb.ErrLost, err)
		}
		return err
	})}
}
