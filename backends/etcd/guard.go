package etcd

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockbench/lockbench/workloads/guard"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

//go:embed guard.txt
var statement string

// Store keeps the protected store's fenced copy.
func Store() guard.Database {
	return guard.Database{Name: "etcd", Doc: "the fenced copy is a key in etcd, written by a transaction that compares the token",
		Topology: "etcd", Statement: strings.TrimSpace(statement), Open: openGuard}
}

// fenced keeps a record as two keys, its token and its value, and writes in a
// transaction that compares the token.
type fenced struct{ client *clientv3.Client }

func openGuard(ctx context.Context, addr string) (guard.Guard, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		return nil, fmt.Errorf("guard: connect to etcd at %s: %w", addr, err)
	}
	if _, err := c.Get(ctx, "ready"); err != nil {
		return nil, errors.Join(fmt.Errorf("guard: connect to etcd at %s: %w", addr, err), c.Close())
	}
	return fenced{c}, nil
}

// pad is the token as etcd can compare it: as bytes.
func pad(token uint64) string { return fmt.Sprintf("%020d", token) }

func tokenKey(record string) string { return "token/" + record }
func valueKey(record string) string { return "value/" + record }

// Admit implements [guard.Guard].
func (g fenced) Admit(ctx context.Context, claims []guard.Claim) (before []int64, admitted bool, err error) {
	var fresh []clientv3.Cmp
	var then []clientv3.Op
	for _, c := range claims {
		if err := g.first(ctx, c); err != nil {
			return nil, false, err
		}
		fresh = append(fresh, clientv3.Compare(clientv3.Value(tokenKey(c.Record)), "<", pad(c.Token+1)))
		then = append(then, clientv3.OpGet(valueKey(c.Record)), clientv3.OpPut(tokenKey(c.Record), pad(c.Token)))
		if c.New != nil {
			then = append(then, clientv3.OpPut(valueKey(c.Record), strconv.FormatInt(*c.New, 10)))
		}
	}
	res, err := g.client.Txn(ctx).If(fresh...).Then(then...).Commit()
	if err != nil {
		return nil, false, fmt.Errorf("guard: ask etcd: %w", err)
	}
	if !res.Succeeded {
		return nil, false, nil
	}
	for _, r := range res.Responses {
		got := r.GetResponseRange()
		if got == nil {
			continue
		}
		if len(got.Kvs) != 1 {
			return nil, false, errors.New("guard: etcd has lost a value")
		}
		value, err := strconv.ParseInt(string(got.Kvs[0].Value), 10, 64)
		if err != nil {
			return nil, false, fmt.Errorf("guard: read a value in etcd: %w", err)
		}
		before = append(before, value)
	}
	return before, true, nil
}

// first makes a record that nobody has claimed yet: a missing key has no value that
// could be compared.
func (g fenced) first(ctx context.Context, c guard.Claim) error {
	_, err := g.client.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(tokenKey(c.Record)), "=", 0)).
		Then(clientv3.OpPut(tokenKey(c.Record), pad(0)), clientv3.OpPut(valueKey(c.Record), strconv.FormatInt(c.First, 10))).Commit()
	if err != nil {
		return fmt.Errorf("guard: make a record in etcd: %w", err)
	}
	return nil
}

// Close implements [guard.Guard].
func (g fenced) Close() error { return g.client.Close() }
