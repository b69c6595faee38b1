package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// etcdCommands are what people do to an etcd server.
var etcdCommands = map[Operation]Command{
	FailOver:   etcdMoveLeader,
	Compact:    etcdCompact,
	Defragment: etcdDefragment,
	NoSpace:    etcdNoSpace,
	Snapshot:   etcdSnapshot,
}

// etcdMoveLeader has the leader hand its office to another member.
func etcdMoveLeader(ctx context.Context, at Target) (e Effect, err error) {
	err = operateEtcd(ctx, at, func(c *clientv3.Client) error {
		status, err := c.Status(ctx, at.Endpoint)
		if err != nil {
			return err
		}
		members, err := c.MemberList(ctx)
		if err != nil {
			return err
		}
		for _, m := range members.Members {
			if m.ID != status.Header.MemberId && !m.IsLearner {
				_, err := c.MoveLeader(ctx, m.ID)
				e = Effect{Count: 1, Told: "gave the lead to " + m.Name}
				return err
			}
		}
		return errors.New("there is no other member to lead")
	})
	return e, err
}

// etcdCompact forgets every revision but the last: who wants to watch from an older one is
// refused.
func etcdCompact(ctx context.Context, at Target) (e Effect, err error) {
	err = operateEtcd(ctx, at, func(c *clientv3.Client) error {
		now, err := c.Get(ctx, "compact")
		if err != nil {
			return err
		}
		last := now.Header.Revision
		_, err = c.Compact(ctx, last, clientv3.WithCompactPhysical())
		e = Effect{Count: int(last) - 1, Told: fmt.Sprintf("forgot all revisions before %d", last)}
		return err
	})
	return e, err
}

// etcdDefragment rewrites the member's file; it answers nobody meanwhile.
func etcdDefragment(ctx context.Context, at Target) (e Effect, err error) {
	err = operateEtcd(ctx, at, func(c *clientv3.Client) error {
		start := time.Now()
		_, err := c.Defragment(ctx, at.Endpoint)
		e = Effect{Count: 1, Told: fmt.Sprintf("rewrote its file within %.3f s", time.Since(start).Seconds())}
		return err
	})
	return e, err
}

// etcdNoSpace raises the alarm that a member raises itself when the database has grown to
// its quota: the cluster then refuses to write anything, until somebody disarms it.
func etcdNoSpace(ctx context.Context, at Target) (e Effect, err error) {
	e.Told = "raised the alarm NOSPACE"
	e.End = func(ctx context.Context) (Effect, error) {
		return e, operateEtcd(ctx, at, func(c *clientv3.Client) error {
			_, err := c.AlarmDisarm(ctx, &clientv3.AlarmMember{})
			return err
		})
	}
	err = operateEtcd(ctx, at, func(c *clientv3.Client) error {
		status, err := c.Status(ctx, at.Endpoint)
		if err != nil {
			return err
		}
		_, err = pb.NewMaintenanceClient(c.ActiveConnection()).Alarm(ctx, &pb.AlarmRequest{
			Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE, MemberID: status.Header.MemberId})
		if err != nil {
			return err
		}
		if _, refused := c.Put(ctx, "no-space", ""); refused != nil {
			e.Count, e.Told = 1, fmt.Sprintf("raised the alarm NOSPACE and refused to write (%v)", refused)
		}
		return nil
	})
	return e, err
}

func operateEtcd(ctx context.Context, at Target, ask func(*clientv3.Client) error) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{at.Endpoint}, Context: ctx, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	return ask(c)
}
