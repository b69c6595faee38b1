package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/worker"
	"github.com/lockbench/lockbench/lab"
)

// workerProc is a worker as the runner sees it: a process that takes instructions.
type workerProc struct {
	lab.Process
	host   lab.Host
	cfg    worker.Config
	gone   chan struct{} // closed when it has ended
	doomed atomic.Bool   // its end is wanted
	blame  func(string)  // is told what its lock's program did wrong
	clock  *compared     // nil where its clock is this process's

	mu           sync.Mutex
	instructions *json.Encoder
	number       uint64
	answers      map[uint64]chan worker.Report // by instruction; 0 for what it says by itself
}

func startWorker(ctx context.Context, h lab.Host, cfg worker.Config, logTo *os.File, blame func(string)) (*workerProc, error) {
	instructionsOut, instructionsIn, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cfg.Name, err)
	}
	defer instructionsOut.Close()
	reportsOut, reportsIn, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cfg.Name, err)
	}
	defer reportsIn.Close()
	p, err := h.Start(ctx, lab.Program{Argv: []string{lab.Self, "worker"}, Stdin: instructionsOut, Reports: reportsIn, Log: logTo,
		Sees: []string{filepath.Dir(cfg.Events)}})
	if err != nil {
		return nil, err
	}
	w := &workerProc{Process: p, host: h, cfg: cfg, instructions: json.NewEncoder(instructionsIn), gone: make(chan struct{}), blame: blame,
		answers: map[uint64]chan worker.Report{0: make(chan worker.Report, 4)}}
	if cfg.OwnClock {
		w.clock = newCompared()
	}
	go w.listen(reportsOut)
	if err := w.instructions.Encode(cfg); err != nil {
		return nil, fmt.Errorf("configure %s: %w", cfg.Name, err)
	}
	return w, nil
}

// Name is that of the process; two may be on one host, one after the other or at once.
func (w *workerProc) Name() string { return w.cfg.Name }

// listen hands each report to who waits for the answer to its instruction.
func (w *workerProc) listen(out io.ReadCloser) {
	defer close(w.gone)
	defer out.Close()
	dec := json.NewDecoder(out)
	for {
		var r worker.Report
		if dec.Decode(&r) != nil {
			_ = w.Wait() // the reports end when the process does
			return
		}
		switch r.Say {
		case worker.SayWrong:
			w.blame(r.Error)
		case worker.SayTime: // whoever asked wants it by the worker's clock
		default:
			r.At = w.reference(r.At)
		}
		w.mu.Lock()
		answers := w.answers[r.N]
		w.mu.Unlock()
		select {
		case answers <- r:
		default: // nobody wants it any more
		}
	}
}

// instruct sends an instruction and returns where its answers come.
func (w *workerProc) instruct(o worker.Instruction) (n uint64, answers <-chan worker.Report, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o.N == 0 {
		w.number++
		o.N = w.number
		w.answers[o.N] = make(chan worker.Report, 2*w.cfg.Clients+4) // a trap reports twice of each client
	}
	if err := w.instructions.Encode(o); err != nil {
		return o.N, nil, fmt.Errorf("tell %s to %s: %w", w.Name(), o.Do, err)
	}
	return o.N, w.answers[o.N], nil
}

// forget ends the wait for answers to an instruction.
func (w *workerProc) forget(n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.answers, n)
}

// ask sends an instruction that is answered once.
func (w *workerProc) ask(ctx context.Context, o worker.Instruction) (worker.Report, error) {
	n, answers, err := w.instruct(o)
	if err != nil {
		return worker.Report{}, err
	}
	defer w.forget(n)
	return w.await(ctx, answers, o.Do)
}

var errGone = errors.New("the worker has ended")

// await returns the next answer. what says what it is about.
func (w *workerProc) await(ctx context.Context, answers <-chan worker.Report, what string) (worker.Report, error) {
	failed := func(r worker.Report) error {
		if r.Say == worker.SayFailed || r.Say == worker.SayWrong {
			return fmt.Errorf("%s: %s", w.Name(), r.Error)
		}
		return nil
	}
	select {
	case r := <-answers:
		return r, failed(r)
	case <-ctx.Done():
		return worker.Report{}, fmt.Errorf("await the answer of %s to %s: %w", w.Name(), what, ctx.Err())
	case <-w.gone:
	}
	select { // what it said last
	case r := <-answers:
		return r, failed(r)
	default:
		return worker.Report{}, fmt.Errorf("await the answer of %s to %s: %w; see logs/%s.log", w.Name(), what, errGone, w.Name())
	}
}

// own is where it says what it was not asked: that it is ready, has ended or failed.
func (w *workerProc) own() <-chan worker.Report { return w.answers[0] }

func (w *workerProc) alive() bool {
	select {
	case <-w.gone:
		return false
	default:
		return true
	}
}

// startWorkers starts the plan's worker processes, each on a host of its own,
// and returns when all their clients have their sessions; those of a process
// share one, if told so. The clock of the first is ahead. made is told of each host before that.
func startWorkers(ctx context.Context, l lab.Lab, dir *rundir.Run, service *lab.Service, store string, ahead time.Duration, share bool, made func(lab.Host) error, blame func(string)) ([]*workerProc, error) {
	var ws []*workerProc
	plan := dir.Plan
	for i := range plan.Processes {
		name := rundir.Worker(i + 1)
		logTo, err := dir.OpenLog(name)
		if err != nil {
			return ws, err
		}
		defer logTo.Close()
		h, err := l.Host(ctx, name, "")
		if err == nil {
			err = made(h)
		}
		if err != nil {
			return ws, err
		}
		cfg := worker.Config{
			Name: name, Number: i + 1, Plan: plan, Store: store,
			Servers: service.Endpoints(), Sentinels: lab.Endpoints(service.Sentinels), Master: service.Master(),
			SharedSession: share,
			Clients:       part(plan.Clients, plan.Processes, i),
			Events:        dir.EventsFile(name),
			Ahead:         ahead,
			OwnClock:      plan.Clocks == history.Apart,
		}
		if cfg.OwnClock {
			var by time.Duration
			by, cfg.Drift = apart(plan.Seed, i)
			if err := setAhead(h, by); err != nil {
				return ws, err
			}
		}
		w, err := startWorker(ctx, h, cfg, logTo, blame)
		ahead = 0 // for the first
		if err != nil {
			return ws, err
		}
		ws = append(ws, w)
	}
	for _, w := range ws {
		if err := w.ready(ctx); err != nil {
			return ws, err
		}
	}
	return ws, nil
}

// ready returns when its clients have their sessions, and it is known how its clock differs.
func (w *workerProc) ready(ctx context.Context) error {
	if _, err := w.await(ctx, w.own(), "the configuration"); err != nil {
		return err
	}
	return w.compare(ctx)
}

// part divides n things among the parts as evenly as can be.
func part(n, parts, i int) int {
	if i < n%parts {
		return n/parts + 1
	}
	return n / parts
}

// thaw is SIGCONT: a frozen process can't be asked to go on.
func (w *workerProc) thaw() error { return w.Signal(syscall.SIGCONT) }

var _ faults.Node = (*workerProc)(nil)
