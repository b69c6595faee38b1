package worker

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/processes"
	"github.com/lockbench/lockbench/workloads"
)

// Run is the worker's main: it reads instructions from in and writes reports to out
// until it is told to stop or in ends.
func Run(ctx context.Context, in io.Reader, out io.Writer, c catalog.Catalog) error {
	instructions := json.NewDecoder(bufio.NewReader(in))
	var cfg Config
	if err := instructions.Decode(&cfg); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	rec, err := record(cfg)
	if err != nil {
		return err
	}
	w := &worker{cfg: cfg, rec: rec, out: json.NewEncoder(out)}
	w.traps = &traps{worker: cfg.Name, record: rec.Record, last: rec.Last, report: w.say}
	err = w.serve(ctx, instructions, c)
	if err = errors.Join(err, rec.Close()); err != nil {
		w.say(lastWord(err))
		return err
	}
	w.say(Report{Say: SayDone})
	return nil
}

// record begins the file of events.
func record(cfg Config) (*history.Recorder, error) {
	if cfg.OwnClock {
		return history.CreateOwn(cfg.Events, cfg.Name, cfg.Drift)
	}
	return history.Create(cfg.Events)
}

type worker struct {
	cfg     Config
	rec     *history.Recorder
	traps   *traps
	clients []*client

	outMu sync.Mutex
	out   *json.Encoder
}

func (w *worker) say(r Report) {
	for _, at := range []*lb.Instant{&r.At, &r.Came} {
		if *at != 0 {
			*at = w.rec.Time(*at)
		}
	}
	w.outMu.Lock()
	defer w.outMu.Unlock()
	_ = w.out.Encode(r) // nobody to tell when the runner is gone; the next instruction's end tells us
}

func (w *worker) serve(ctx context.Context, instructions *json.Decoder, c catalog.Catalog) error {
	if err := w.open(ctx, c); err != nil {
		return err
	}
	defer func() {
		for _, c := range w.clients {
			c.close()
		}
	}()
	hearing, deaf := context.WithCancel(ctx)
	defer deaf()
	come, broken := w.hear(hearing, instructions)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go w.beat(ctx)
	w.say(Report{Say: SayReady})

	var running sync.WaitGroup
	for {
		var o Instruction
		select {
		case o = <-come:
		case err := <-broken:
			return err
		}
		switch o.Do {
		case DoStart:
			for _, c := range w.clients {
				running.Go(func() { c.run(ctx) })
			}
		case DoCatch:
			w.traps.arm(o)
		case DoLetGo:
			w.traps.free(o.N)
			w.say(Report{N: o.N, Say: SayFree})
		case DoClock:
			if err := clock.Move(o.Ahead, o.Rate); err != nil {
				w.say(Report{N: o.N, Say: SayFailed, Error: err.Error()})
				continue
			}
			w.say(Report{N: o.N, Say: SayClock, Ahead: clock.Ahead()})
		case DoAhead:
			go w.tellClock(ctx, o) // programs are asked, too
		case DoTell:
			w.say(Report{N: o.N, Say: SayTold, Clients: w.told()})
		case DoCount:
			w.say(w.count(o))
		case DoRest:
			w.traps.freeAll()
			stop()
			running.Wait()
			w.say(w.count(o))
		case DoAgain:
			w.again(o)
		case DoStop:
			w.traps.freeAll()
			stop()
			running.Wait()
			return nil
		default:
			return fmt.Errorf("unknown instruction %q", o.Do)
		}
	}
}

// hear hands on the instructions as they come. What time it is it tells itself, whatever the
// process is at: how long an answer takes is how little it says.
func (w *worker) hear(ctx context.Context, instructions *json.Decoder) (come <-chan Instruction, broken <-chan error) {
	heard, failed := make(chan Instruction), make(chan error, 1)
	go func() {
		for {
			var o Instruction
			if err := instructions.Decode(&o); err != nil {
				failed <- fmt.Errorf("read an instruction: %w", err)
				return
			}
			came := clock.Now()
			if o.Do == DoTime {
				w.say(Report{N: o.N, Say: SayTime, Came: came, At: clock.Now()})
				continue
			}
			select {
			case heard <- o:
			case <-ctx.Done():
				return
			}
		}
	}()
	return heard, failed
}

func (w *worker) told() (all []Client) {
	for _, c := range w.clients {
		all = append(all, c.probe.told())
	}
	return all
}

// again has a client release again what it has released.
func (w *worker) again(o Instruction) {
	told := func(a lb.Answer) { w.say(Report{N: o.N, Say: SayAgain, Client: o.Only, Result: a.String()}) }
	for _, c := range w.clients {
		if c.name == o.Only {
			c.again.Store(&told)
		}
	}
}

// count is what the process has done and has.
func (w *worker) count(o Instruction) Report {
	r := Report{N: o.N, Say: SayCount}
	for _, c := range w.clients {
		r.Sections += int(c.sections.Load())
	}
	if foreign.Running() {
		r.Threads, r.Files = processes.Has(os.Getpid())
	} else {
		r.Goroutines = runtime.NumGoroutine()
	}
	return r
}

func (w *worker) open(ctx context.Context, all catalog.Catalog) error {
	if w.cfg.Ahead != 0 {
		if err := clock.Move(w.cfg.Ahead, 0); err != nil {
			return fmt.Errorf("move the clock: %w", err)
		}
	}
	all, err := all.With(w.cfg.Plan.Exec)
	if err != nil {
		return err
	}
	impl, err := all.Lock(w.cfg.Plan.Algorithm)
	if err != nil {
		return err
	}
	top, err := all.Topology(w.cfg.Plan.Topology)
	if err != nil {
		return err
	}
	impl = foreign.Hearing(impl, top.Kind.Speaks)
	work, err := all.Workload(w.cfg.Plan.Workload)
	if err != nil {
		return err
	}
	if impl.Info().Program {
		if err := processes.Adopt(); err != nil {
			return err
		}
	}
	if w.cfg.SharedSession {
		impl = &shared{Impl: impl}
	}
	long, err := w.long()
	if err != nil {
		return err
	}
	asks := asks(impl.Info())
	for i := range w.cfg.Clients {
		name := clientName(w.cfg.Name, i)
		number := uint64(w.cfg.Number)<<32 | uint64(i+1)
		c := &client{name: name, worker: w.cfg.Name, prefix: w.cfg.Plan.Prefix(), impl: impl, record: w.rec.Record, blame: w.blame,
			caller: newCaller(impl.Info(), w.cfg.Plan.Seed, number),
			probe:  &probe{client: name, traps: w.traps, record: w.rec.Record, asks: asks, work: work.Info().Steps}}
		c.env = &lb.Env{
			Client: clientName(cmp.Or(w.cfg.Identity, w.cfg.Name), i), Servers: w.cfg.Servers, Sentinels: w.cfg.Sentinels, Master: w.cfg.Master, TTL: w.cfg.Plan.TTL, Clock: lb.HostClock{},
			Rand:  rand.New(rand.NewPCG(w.cfg.Plan.Seed, number)),
			Probe: c.probe,
		}
		w.clients = append(w.clients, c)
		if err := c.open(ctx, work, workloads.Bench{Store: w.cfg.Store, Long: long}); err != nil {
			return err
		}
	}
	return nil
}

// LongWork is how long the long work of a plan takes, 0 where there is none.
func LongWork(p history.Plan) (time.Duration, error) {
	if p.Work == "" || p.Work == history.NoWork {
		return 0, nil
	}
	length, err := faults.ParseLength(p.Work)
	return length.Of(p.TTL), err
}

// long is when the clients of this process work for long, nil for never.
func (w *worker) long() (*workloads.Long, error) {
	p := w.cfg.Plan
	length, err := LongWork(p)
	if err != nil || length == 0 {
		return nil, err
	}
	return workloads.NewLong(length, p.Seed, w.cfg.Number-1, p.Processes), nil
}

// asks are the steps before the lock's requests.
func asks(info lb.Info) map[string]bool {
	steps := map[string]bool{}
	for _, r := range info.Requests {
		steps[lb.Before(r)] = true
	}
	return steps
}

func clientName(worker string, i int) string { return fmt.Sprintf("%s.c%d", worker, i+1) }

// beat notices when the process did not run: a freeze, and the excuse of a machine that
// was too busy.
func (w *worker) beat(ctx context.Context) {
	clock.Gaps(ctx, func(from, to lb.Instant) {
		from = max(from, w.traps.lastFreeze()) // a freeze comes after the last beat
		w.rec.Record(history.Event{At: to, Kind: history.KindSilent, Worker: w.cfg.Name, Call: from})
	})
}
