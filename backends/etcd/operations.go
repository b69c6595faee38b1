package etcd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/lockbench/lockbench/lab"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// commands are what people do to an etcd server.
var commands = map[lab.Operation]lab.Command{
	lab.FailOver:   moveLeader,
	lab.Compact:    compact,
	lab.Defragment: defragment,
	lab.NoSpace:    noSpace,
	lab.Snapshot:   snapshot,
}

// moveLeader has the leader hand its office to another member.
func moveLeader(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = operate(ctx, at, func(c *clientv3.Client) error {
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
				e = lab.Effect{Count: 1, Told: "gave the lead to " + m.Name}
				return err
			}
		}
		return errors.New("there is no other member to lead")
	})
	return e, err
}

// compact forgets every revision but the last: who wants to watch from an older one is
// refused.
func compact(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = operate(ctx, at, func(c *clientv3.Client) error {
		now, err := c.Get(ctx, "compact")
		if err != nil {
			return err
		}
		last := now.Header.Revision
		_, err = c.Compact(ctx, last, clientv3.WithCompactPhysical())
		e = lab.Effect{Count: int(last) - 1, Told: fmt.Sprintf("forgot all revisions before %d", last)}
		return err
	})
	return e, err
}

// defragment rewrites the member's file; it answers nobody meanwhile.
func defragment(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = operate(ctx, at, func(c *clientv3.Client) error {
		start := time.Now()
		_, err := c.Defragment(ctx, at.Endpoint)
		e = lab.Effect{Count: 1, Told: fmt.Sprintf("rewrote its file within %.3f s", time.Since(start).Seconds())}
		return err
	})
	return e, err
}

// noSpace raises the alarm that a member raises itself when the database has grown to
// its quota: the cluster then refuses to write anything, until somebody disarms it.
func noSpace(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	e.Told = "raised the alarm NOSPACE"
	e.End = func(ctx context.Context) (lab.Effect, error) {
		return e, operate(ctx, at, func(c *clientv3.Client) error {
			_, err := c.AlarmDisarm(ctx, &clientv3.AlarmMember{})
			return err
		})
	}
	err = operate(ctx, at, func(c *clientv3.Client) error {
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

// snapshot has the member send its whole database, as for a backup.
func snapshot(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = operate(ctx, at, func(c *clientv3.Client) error {
		start := time.Now()
		all, err := c.Snapshot(ctx)
		if err != nil {
			return err
		}
		defer all.Close()
		n, err := io.Copy(io.Discard, all)
		e = lab.Effect{Count: int(n), Told: fmt.Sprintf("sent a snapshot of %d bytes within %.3f s", n, time.Since(start).Seconds())}
		return err
	})
	return e, err
}

func operate(ctx context.Context, at lab.Target, ask func(*clientv3.Client) error) error {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{at.Endpoint}, Context: ctx, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	defer c.Close()
	return ask(c)
}
