package etcd

import (
	"context"
	"errors"
	"net"

	lb "github.com/lockbench/lockbench"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/lockbench/lockbench/lab"
)

const mark = lb.Prefix + ":run"

// client of the server, which logs in if there is a user.
func client(ctx context.Context, r lab.Relay, user, password string) (*clientv3.Client, error) {
	how := clientv3.Config{Endpoints: []string{"http://" + r.Addr()}, Context: ctx, Logger: zap.NewNop(), DialTimeout: lab.VisitBound,
		Username: user, Password: password,
		DialOptions: []grpc.DialOption{grpc.WithDisableRetry(), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return r.Open(ctx) })}}
	return clientv3.New(how)
}

type visit struct {
	*clientv3.Client
	addr string
}

func newVisit(ctx context.Context, r lab.Relay) (lab.Visit, error) {
	as := r.Account()
	c, err := client(ctx, r, as.User, as.Password)
	if err != nil {
		return nil, err
	}
	return visit{c, r.Addr()}, nil
}

// Answers reads by way of the leader.
func (v visit) Answers(ctx context.Context) error {
	_, err := v.Get(ctx, mark)
	return err
}

func (v visit) Version(ctx context.Context) (string, error) {
	status, err := v.Status(ctx, "http://"+v.addr)
	if err != nil {
		return "", err
	}
	return "etcd " + status.Version, nil
}

// prefixes are what keys of locks begin with; python-etcd3 puts its own before the name.
var prefixes = []string{lb.Prefix, "/locks/" + lb.Prefix}

func (v visit) Kept(ctx context.Context) (names []string, by string, err error) {
	for _, prefix := range prefixes {
		got, err := v.Get(ctx, prefix, clientv3.WithPrefix())
		if errors.Is(err, rpctypes.ErrPermissionDenied) && prefix != lb.Prefix {
			continue // who has no right to it leaves nothing there
		}
		if err != nil {
			return nil, "", err
		}
		for _, kv := range got.Kvs {
			if string(kv.Key) == mark {
				by = string(kv.Value)
			} else {
				names = append(names, string(kv.Key))
			}
		}
	}
	return names, by, nil
}

func (v visit) Take(ctx context.Context, by string) error {
	done, err := v.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(mark), "=", 0)).Then(clientv3.OpPut(mark, by)).Commit()
	if err == nil && !done.Succeeded {
		err = lab.ErrTaken
	}
	return err
}

func (v visit) Remove(ctx context.Context, names []string) error {
	for _, name := range names {
		if _, err := v.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (v visit) Leave(ctx context.Context, by string) error {
	_, err := v.Txn(ctx).If(clientv3.Compare(clientv3.Value(mark), "=", by)).Then(clientv3.OpDelete(mark)).Commit()
	return err
}
