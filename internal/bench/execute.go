package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// Execute does a benchmark in the directory, of which the plan is given, and calls done
// after each round and each program. What was measured until an error is in the directory, too.
func Execute(ctx context.Context, c catalog.Catalog, dir string, plan cost.Plan, done func(*cost.Bench)) (*rundir.Bench, error) {
	c, err := c.With(plan.Exec)
	if err != nil {
		return nil, err
	}
	driver, err := c.Lab(plan.Lab, plan.Addrs)
	if err != nil {
		return nil, err
	}
	all := topologies(c, driver, plan)
	plan.Machine, plan.Versions = run.Here(), run.Versions(ctx, driver, all...)
	d, err := rundir.CreateBench(dir, plan)
	if err != nil {
		return nil, err
	}
	defer rundir.Hold(dir)()
	logTo, err := d.OpenLog("lockbench")
	if err != nil {
		return nil, err
	}
	defer logTo.Close()
	for _, t := range all[:min(1, len(all))] { // of servers that are borrowed there is one kind
		giveBack, err := run.Borrow(ctx, driver, t.Kind)
		if err != nil {
			return nil, err
		}
		defer giveBack()
	}
	before := look(ctx)
	stop := follow(ctx, dir, done)
	err = run.InLab(ctx, driver, logTo, run.Grace, "measure", dir)
	stop()
	err = errors.Join(err, os.RemoveAll(d.DataDir()))
	d, readErr := rundir.OpenBench(dir)
	if err = errors.Join(err, readErr); readErr == nil {
		d.Bench.Noise = append(before.noise("before"), d.Bench.Noise...)
		if ctx.Err() == nil { // who interrupts does not wait for another look
			d.Bench.Noise = append(d.Bench.Noise, look(ctx).noise("after")...)
		}
		err = errors.Join(err, d.Save())
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %s: %w", run.ErrFailed, dir, err)
	}
	return d, err
}

func topologies(c catalog.Catalog, d lab.Driver, p cost.Plan) (all []lab.Topology) {
	for _, name := range p.Algorithms {
		if impl, err := c.Lock(name); err == nil {
			if t, err := Topology(c, d, impl); err == nil {
				all = append(all, t)
			}
		}
	}
	return all
}

// follow tells of every round, and every program, that the directory shows to be done.
func follow(ctx context.Context, dir string, done func(*cost.Bench)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for told := 0; ctx.Err() == nil; sleep(ctx, 500*time.Millisecond) {
			d, err := rundir.OpenBench(dir)
			if err == nil && d.Bench.Turns() > told {
				told = d.Bench.Turns()
				done(d.Bench)
			}
		}
	}()
	return func() { cancel(); <-ended }
}
