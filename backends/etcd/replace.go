package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lockbench/lockbench/lab"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// replace has a member, asked at the target, put another in the place of one that is
// gone for good. The new one has an id of its own, and joins a cluster that exists.
func replace(ctx context.Context, at lab.Target, gone string) (change func(lab.Program) lab.Program, err error) {
	err = operate(ctx, at, func(c *clientv3.Client) error {
		list, err := c.MemberList(ctx)
		if err != nil {
			return err
		}
		for _, m := range list.Members {
			if m.Name != gone {
				continue
			}
			if err := whenHealthy(ctx, func() error { _, err := c.MemberRemove(ctx, m.ID); return err }); err != nil {
				return fmt.Errorf("remove %s: %w", gone, err)
			}
			return whenHealthy(ctx, func() error { _, err := c.MemberAdd(ctx, m.PeerURLs); return err })
		}
		return fmt.Errorf("%s is no member", gone)
	})
	return func(p lab.Program) lab.Program {
		p.Argv = append(slices.Clip(p.Argv), "--initial-cluster-state", "existing")
		return p
	}, err
}

// whenHealthy asks again until all members that are left have been in touch for five
// seconds: before that etcd lets nobody change who they are.
func whenHealthy(ctx context.Context, ask func() error) error {
	for {
		err := ask()
		if !errors.Is(err, rpctypes.ErrUnhealthy) {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}
