// Package etcd is etcd as a backend: its servers, and what people do to them, and how lockbench is let in by those
// that somebody else runs. Its locks are in impls/etcd.
package etcd

import (
	"context"
	"slices"
	"time"

	"github.com/lockbench/lockbench/lab"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Topologies are those of etcd.
func Topologies() []lab.Topology {
	return []lab.Topology{
		{Name: "etcd", Doc: "one etcd server", Kind: member, Servers: 1, Ensembles: &lab.Ensembles{Title: "etcd", Algorithm: "etcd-lease"}},
		{Name: "etcd-3", Doc: "an etcd cluster of three", Kind: member, Servers: 3},
	}
}

// member is the kind of its servers.
var member = lab.Kind{
	Name: "etcd", Image: "etcd=quay.io/coreos/etcd:v3.6.5", Software: software, Version: serverVersion, Speaks: Language, Guest: Guest(), Yardstick: Yardstick,
	Program: program, Grows: true, Quorum: true, Lags: lags, Apart: true,
	Leads: leads, End: end, Clock: clock, Counts: counts, Keeps: keeps, Commands: commands, Replace: replace,
}

// Member is that kind, for servers that stand on some.
func Member() lab.Kind { return member }

var serverVersion = lab.Version{Of: "etcd", Command: []string{"etcd", "--version"}}

// software is what lockbench contains.
var software = lab.Software{Name: "etcd", Builtin: "go.etcd.io/etcd/server/v3",
	Option: func(p lab.Program, name, value string) lab.Program {
		p.Argv = append(slices.Clip(p.Argv), "--"+name+"="+value)
		return p
	},
	Binary: func(p lab.Program, path string) lab.Program {
		p.Argv, p.Builtin = append([]string{path}, p.Argv[1:]...), false
		return p
	}}

// keeps counts keys and leases.
func keeps(ctx context.Context, endpoint string) (k lab.Keeps, err error) {
	err = operate(ctx, lab.Target{Endpoint: endpoint}, func(c *clientv3.Client) error {
		keys, err := c.Get(ctx, "", clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err != nil {
			return err
		}
		leases, err := c.Leases(ctx)
		if err != nil {
			return err
		}
		k = lab.Keeps{"keys": int(keys.Count), "leases": len(leases.Leases)}
		return nil
	})
	return k, err
}

// counts is the revision of the keys. Leases are not counted.
func counts(endpoint string) (n lab.Counting, err error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		return n, err
	}
	return lab.Counting{Close: func() { _ = c.Close() }, Ask: func(ctx context.Context) (lab.Count, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		status, err := c.Status(ctx, endpoint)
		if err != nil {
			return lab.Count{}, err
		}
		return lab.Count{Changes: uint64(status.Header.Revision)}, nil
	}}, nil
}
