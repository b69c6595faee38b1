package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/lab"
)

// service is a topology that is up, in one of the two columns.
type service struct {
	topology lab.Topology
	servers  cost.Servers
	up       *lab.Service
	yard     *lab.Yardstick // nil where nobody knows how to measure the servers themselves
}

// pids are the processes of its servers.
func (s *service) pids() (all []int) {
	for _, server := range slices.Concat(s.up.Servers, s.up.Sentinels) {
		if pid := server.Pid(); pid != 0 {
			all = append(all, pid)
		}
	}
	return all
}

type place struct {
	topology string
	servers  cost.Servers
}

// row is an algorithm on servers of its own kind.
type row struct {
	impl lb.Impl
	on   *service
}

func (r row) name() string { return r.impl.Info().Name }
func (r row) id() string   { return rowID(r.name(), r.on.servers) }

func rowID(lock string, on cost.Servers) string { return fmt.Sprintf("%s-%s", lock, on) }

// columns are how the servers of a topology run. Without servers it makes no difference, and
// servers of somebody else run as they do.
func columns(d lab.Driver, t lab.Topology) []cost.Servers {
	switch {
	case t.Servers == 0:
		return []cost.Servers{cost.Memory}
	case d.Borrowed != nil:
		return []cost.Servers{cost.Given}
	}
	return []cost.Servers{cost.Disk, cost.Memory}
}

// Topology is where a lock is measured: the first of its own that the lab has.
func Topology(c catalog.Catalog, d lab.Driver, impl lb.Impl) (t lab.Topology, err error) {
	for _, name := range impl.Info().Topologies {
		t, e := c.Topology(name)
		if e == nil {
			e = d.Serves(t)
		}
		if e == nil && d.Borrowed != nil {
			t = d.Borrowed.Like(t)
		}
		if e == nil {
			return t, nil
		}
		err = errors.Join(err, e)
	}
	return t, fmt.Errorf("%s can't be measured here: %w", impl.Info().Name, err)
}

// group are servers that are brought up together.
type group struct {
	prefix string       // of their names
	only   cost.Servers // the column, "" for all
	data   string       // where those keep theirs that wait for the disk
	log    func(string) (*os.File, error)
}

// bringUp starts the servers of all rows, each topology in each column once, and side by side.
func bringUp(ctx context.Context, l lab.Lab, d lab.Driver, c catalog.Catalog, p cost.Plan, g group) (rows []row, err error) {
	services := map[place]*service{}
	for _, name := range p.Algorithms {
		impl, err := c.Lock(name)
		if err != nil {
			return nil, err
		}
		t, err := Topology(c, d, impl)
		if err != nil {
			return nil, err
		}
		for _, servers := range columns(d, t) {
			if g.only != "" && servers != g.only {
				continue
			}
			at := place{t.Name, servers}
			if services[at] == nil {
				services[at] = &service{topology: t, servers: servers}
			}
			rows = append(rows, row{foreign.Hearing(impl, t.Kind.Speaks), services[at]})
		}
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for at, s := range services {
		o := lab.Options{Log: g.log, Longest: p.TTL, Prefix: fmt.Sprintf("%s%s-%s-", g.prefix, at.topology, at.servers)}
		if at.servers == cost.Disk {
			o.Disk = g.data
		}
		wg.Go(func() {
			var err error
			if s.up, err = lab.StartService(ctx, l, s.topology, o); err == nil && s.topology.Kind.Yardstick != nil {
				s.yard, err = s.topology.Kind.Yardstick(ctx, s.up.Endpoints()[0])
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, fmt.Errorf("%s, %s: %w", at.topology, at.servers, err))
			}
		})
	}
	wg.Wait()
	return rows, errors.Join(errs...)
}
