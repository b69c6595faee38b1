package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// stage is the run in progress. What faults may do on it they do as a [strike].
type stage struct {
	plan    history.Plan
	catalog catalog.Catalog
	dir     *rundir.Run
	lab     lab.Lab
	setting faults.Setting
	tell    func(phase string)
	record  func(history.Event)
	store   lab.Process
	service *lab.Service
	workers crew
	taps    map[lab.Host]*tapped // of the workers' hosts, if the fault wants to hear what is said
	blamed  sync.Once            // the lock's program has done wrong
	skewed  skewed
	first   []history.Event // what there was of the lock when it had begun; nil if that was not counted
	// patience is how much longer than by itself a fault may take, because another that is in
	// force keeps a process from answering.
	patience time.Duration
}

// skewed is the clock of the first worker's host, where it was ahead when it started.
type skewed struct {
	ahead time.Duration
	since lb.Instant
}

func (s *stage) Setting() faults.Setting                          { return s.setting }
func (s *stage) TTL() time.Duration                               { return s.plan.TTL }
func (s *stage) Servers() []faults.Node                           { return nodes(s.service.Servers) }
func (s *stage) Sentinels() []faults.Node                         { return nodes(s.service.Sentinels) }
func (s *stage) Workers() []faults.Node                           { return nodes(s.workers.hosts()) }
func (s *stage) Sleep(ctx context.Context, d time.Duration) error { return sleep(ctx, d) }

func nodes[N faults.Node](some []N) (all []faults.Node) {
	for _, n := range some {
		all = append(all, n)
	}
	return all
}

func (s *stage) Leader(ctx context.Context, except faults.Node) (faults.Node, error) {
	name := ""
	if except != nil {
		name = except.Name()
	}
	server, err := s.service.Leader(ctx, name)
	if err != nil {
		return nil, err
	}
	return server, nil
}

func (s *stage) Followers(ctx context.Context, leader faults.Node) ([]faults.Node, error) {
	all, err := s.service.Followers(ctx, leader.Name())
	return nodes(all), err
}

func (s *stage) Passed(ctx context.Context, step string, by, except faults.Node) error {
	var asked sync.WaitGroup
	defer asked.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	alive := s.workers.alive()
	passed := make(chan error, len(alive))
	n := 0
	for _, w := range alive {
		if by != nil && w.Name() != by.Name() || except != nil && w.Name() == except.Name() {
			continue
		}
		n++
		asked.Go(func() { passed <- w.passed(ctx, step, "") })
	}
	err := fmt.Errorf("%w: no worker is left that could pass the step %s", faults.ErrNobody, step)
	for range n {
		if err = <-passed; err == nil {
			return nil
		}
	}
	return err
}

// worker is the process of that name.
func (s *stage) worker(n faults.Node) (*workerProc, bool) {
	all := s.workers.list()
	i := slices.IndexFunc(all, func(w *workerProc) bool { return w.Name() == n.Name() })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

func (s *stage) server(n faults.Node) (*lab.Server, error) {
	for _, one := range slices.Concat(s.service.Servers, s.service.Sentinels) {
		if one.Name() == n.Name() {
			return one, nil
		}
	}
	return nil, fmt.Errorf("%s is no server", n.Name())
}

// places are the nodes with their addresses.
func (s *stage) places(some []faults.Node) (all []lab.Node, err error) {
	for _, n := range some {
		if w, ok := s.worker(n); ok {
			all = append(all, w)
		} else if server, e := s.server(n); e == nil {
			all = append(all, server)
		} else {
			err = errors.Join(err, e)
		}
	}
	return all, err
}
