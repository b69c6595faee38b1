package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/lab"
)

// Holder is what a process that holds a lock until it is killed is told.
type Holder struct {
	Algorithm, Topology string
	Exec                *history.Exec
	Servers, Sentinels  []string
	Master              string
	TTL                 time.Duration
	Request             lb.Request
	Seed                uint64
}

// HolderReports is the descriptor at which it says that it holds the lock.
const HolderReports = 3

const held = "held"

// Hold is such a process: it takes the lock, says so, and keeps it.
func Hold(ctx context.Context, in io.Reader, out io.Writer, c catalog.Catalog) error {
	var h Holder
	if err := json.NewDecoder(in).Decode(&h); err != nil {
		return fmt.Errorf("hold the lock: %w", err)
	}
	c, err := c.With(h.Exec)
	if err != nil {
		return err
	}
	impl, err := c.Lock(h.Algorithm)
	if err != nil {
		return err
	}
	t, err := c.Topology(h.Topology)
	if err != nil {
		return err
	}
	client, err := foreign.Hearing(impl, t.Kind.Speaks).Open(ctx, &lb.Env{
		Client: "holder", Servers: h.Servers, Sentinels: h.Sentinels, Master: h.Master, TTL: h.TTL,
		Clock: lb.HostClock{}, Rand: rand.New(rand.NewPCG(h.Seed, 1)),
	})
	if err != nil {
		return err
	}
	if _, err := client.Acquire(ctx, h.Request); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, held); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// Outages are measured after the rounds, of all rows at once: there is more waiting in
// them than work.
const (
	manyDeaths = 3
	inQueue    = 200 * time.Millisecond // for the next client to wait for the lock
)

func (m *measurement) deaths() int {
	if m.plan.Short {
		return 1
	}
	return manyDeaths
}

// deathBound is how long a dead holder's lock is watched.
func deathBound(ttl time.Duration) time.Duration { return 5*ttl/2 + time.Second }

// outages kills holders, and measures how long nobody has the lock.
func (m *measurement) outages(ctx context.Context) error {
	host, err := m.lab.Host(ctx, "holders", "")
	if err != nil {
		return err
	}
	for n := range m.deaths() {
		var wg sync.WaitGroup
		for _, r := range m.rows {
			if !m.first(r) {
				continue
			}
			cell := m.out.Find(cost.Uncontended(r.name(), r.on.servers))
			d := &death{measurement: m, row: r, lock: fmt.Sprintf("lockbench:bench-%s-death-%d", r.name(), n)}
			if err := d.begin(ctx, host); err != nil {
				cell.Fail(fmt.Errorf("outage: %w", err))
				continue
			}
			wg.Go(func() { d.watch(ctx, cell, n) })
		}
		wg.Wait()
	}
	return ctx.Err()
}

// first reports whether the row is the one of its algorithm on whose servers what does
// not depend on the disk is measured.
func (m *measurement) first(r row) bool { return r.on.servers == columns(m.on, r.on.topology)[0] }

// death is that of one holder.
type death struct {
	*measurement
	row     row
	lock    string
	process lab.Process
	says    *os.File
}

// begin starts the holder.
func (d *death) begin(ctx context.Context, host lab.Host) error {
	log, err := d.dir.OpenLog("holders")
	if err != nil {
		return err
	}
	defer log.Close()
	ordersOut, ordersIn, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ordersOut.Close()
	defer ordersIn.Close()
	reportsOut, reportsIn, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reportsIn.Close()
	if d.process, err = host.Start(ctx, lab.Program{Argv: []string{lab.Self, "hold"}, Stdin: ordersOut, Reports: reportsIn, Log: log}); err != nil {
		return errors.Join(err, reportsOut.Close())
	}
	d.says = reportsOut
	return json.NewEncoder(ordersIn).Encode(Holder{
		Algorithm: d.row.name(), Topology: d.row.on.topology.Name, Exec: d.plan.Exec, Servers: d.row.on.up.Endpoints(), Sentinels: lab.Endpoints(d.row.on.up.Sentinels), Master: d.row.on.up.Master(),
		TTL: d.plan.TTL, Seed: d.plan.Seed, Request: lb.Request{Lock: d.lock, Owner: d.lock + ".holder"},
	})
}

// watch kills the holder when another waits, and measures until that one has the lock.
func (d *death) watch(ctx context.Context, cell *cost.Cell, n int) {
	defer d.says.Close()
	defer func() { _ = d.process.Signal(syscall.SIGKILL) }() // it may be dead
	if err := d.says.SetReadDeadline(time.Now().Add(openBound)); err != nil {
		d.failed(cell, err)
		return
	}
	var word string
	if _, err := fmt.Fscan(d.says, &word); err != nil || word != held {
		d.failed(cell, fmt.Errorf("the holder did not get the lock: %v; see %s", err, d.dir.LogsDir()))
		return
	}
	p := &party{row: d.row, ttl: d.plan.TTL, seed: d.plan.Seed}
	if err := p.grow(ctx, 1, openBound); err != nil {
		d.failed(cell, err)
		return
	}
	defer p.close()
	granted := make(chan error, 1)
	waiting, stop := context.WithTimeout(ctx, inQueue+deathBound(d.plan.TTL))
	defer stop()
	req := p.clients[0].request(d.lock)
	go func() {
		granted <- p.clients[0].acquire(waiting, req)
	}()
	sleep(ctx, inQueue)
	struck := clock.Now()
	if err := d.process.Signal(syscall.SIGKILL); err != nil {
		d.failed(cell, err)
		return
	}
	select {
	case err := <-granted:
		d.ended(ctx, cell, n, clock.Now().Sub(struck), err)
	case <-time.After(inQueue + deathBound(d.plan.TTL) + time.Second):
		d.failed(cell, errHung)
	}
}

func (d *death) ended(ctx context.Context, cell *cost.Cell, n int, took time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err == nil:
		cell.Add(n, cost.Outage, float64(took))
	case lb.GaveUp(err):
		cell.Never++
	default:
		cell.Fail(fmt.Errorf("outage: %w", err))
	}
}

func (d *death) failed(cell *cost.Cell, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	cell.Fail(fmt.Errorf("outage: %w", err))
}
