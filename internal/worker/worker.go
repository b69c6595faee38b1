package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

const (
	heartbeat = 5 * time.Millisecond
	// silence is how long a heartbeat must be late before it is recorded. Two
	// busy cores can keep a process waiting for some tens of milliseconds.
	silence = 100 * time.Millisecond
)

// Run is the worker's main: it reads orders from in and writes reports to out
// until it is told to stop or in ends.
func Run(ctx context.Context, in io.Reader, out io.Writer, impls func(string) (lb.Impl, error), workloads func(string) (lb.Workload, error)) error {
	orders := json.NewDecoder(bufio.NewReader(in))
	var cfg Config
	if err := orders.Decode(&cfg); err != nil {
		return fmt.Errorf("worker: read the configuration: %w", err)
	}
	rec, err := history.Create(cfg.Events)
	if err != nil {
		return err
	}
	w := &worker{cfg: cfg, rec: rec, out: json.NewEncoder(out)}
	w.trap = &trap{name: cfg.Name, record: rec.Record, last: rec.Last, report: w.say}
	err = w.serve(ctx, orders, impls, workloads)
	if err = errors.Join(err, rec.Close()); err != nil {
		w.say(Report{Say: SayFailed, Error: err.Error()})
		return err
	}
	w.say(Report{Say: SayDone})
	return nil
}

type worker struct {
	cfg     Config
	rec     *history.Recorder
	trap    *trap
	clock   hostClock
	clients []*client

	outMu sync.Mutex
	out   *json.Encoder
}

func (w *worker) say(r Report) {
	w.outMu.Lock()
	defer w.outMu.Unlock()
	_ = w.out.Encode(r) // nobody to tell when the runner is gone; the next order's end tells us
}

func (w *worker) serve(ctx context.Context, orders *json.Decoder, impls func(string) (lb.Impl, error), workloads func(string) (lb.Workload, error)) error {
	if err := w.open(ctx, impls, workloads); err != nil {
		return err
	}
	defer func() {
		for _, c := range w.clients {
			c.close()
		}
	}()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go w.beat(ctx)
	w.say(Report{Say: SayReady})

	var running sync.WaitGroup
	for {
		var o Order
		if err := orders.Decode(&o); err != nil {
			return fmt.Errorf("worker: read an order: %w", err)
		}
		switch o.Do {
		case DoStart:
			for _, c := range w.clients {
				running.Go(func() { c.run(ctx) })
			}
		case DoCatch:
			w.trap.arm(o.Step, o.How)
		case DoUncatch:
			w.trap.arm("", "")
		case DoLetGo:
			w.trap.letGo()
		case DoClock:
			w.say(Report{Say: SayClock, Ahead: w.clock.set(o.Jump, o.Rate)})
		case DoStop:
			w.trap.arm("", "")
			w.trap.letGo()
			stop()
			running.Wait()
			return nil
		default:
			return fmt.Errorf("worker: unknown order %q", o.Do)
		}
	}
}

func (w *worker) open(ctx context.Context, impls func(string) (lb.Impl, error), workloads func(string) (lb.Workload, error)) error {
	impl, err := impls(w.cfg.Plan.Algorithm)
	if err != nil {
		return err
	}
	work, err := workloads(w.cfg.Plan.Workload)
	if err != nil {
		return err
	}
	var number int
	if _, err := fmt.Sscanf(w.cfg.Name, "w%d", &number); err != nil {
		return fmt.Errorf("worker: name %q is not w and a number", w.cfg.Name)
	}
	for i := range w.cfg.Clients {
		name := fmt.Sprintf("%s.c%d", w.cfg.Name, i+1)
		c := &client{name: name, worker: w.cfg.Name, impl: impl, record: w.rec.Record,
			probe: &probe{client: name, trap: w.trap, clock: &w.clock, record: w.rec.Record}}
		c.env = &lb.Env{
			Client: name, Servers: w.cfg.Servers, Sentinels: w.cfg.Sentinels, TTL: w.cfg.Plan.TTL, Clock: &w.clock,
			Rand:  newRand(w.cfg.Plan.Seed, number, i+1),
			Probe: c.probe,
		}
		w.clients = append(w.clients, c)
		if err := c.open(ctx, work, w.cfg.Store); err != nil {
			return err
		}
	}
	return nil
}

// beat notices when the process did not run: the measured length of a freeze,
// and the excuse of a machine that was too busy.
func (w *worker) beat(ctx context.Context) {
	last := lb.Now()
	for lb.HostClock.Sleep(lb.HostClock{}, ctx, heartbeat) == nil {
		now := lb.Now()
		if idle := now.Sub(last); idle > silence {
			from := max(last, lb.Instant(w.trap.frozen.Load())) // a freeze comes after the last beat
			w.rec.Record(lb.Event{At: now, Kind: lb.KindSilent, Worker: w.cfg.Name, Call: from})
			w.say(Report{Say: SaySilent, Idle: idle})
		}
		last = now
	}
}
