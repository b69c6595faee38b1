package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/worker"
)

// workerProc is a worker as the runner sees it: a process that takes orders.
type workerProc struct {
	lab.Process
	gone   chan struct{} // closed when it has ended
	doomed atomic.Bool   // its end is wanted

	ordersMu sync.Mutex
	orders   *json.Encoder

	mu      sync.Mutex
	waiting map[string]chan worker.Report // by what it says
}

func startWorker(ctx context.Context, l lab.Lab, cfg worker.Config, logTo *os.File) (*workerProc, error) {
	h, err := l.Host(ctx, cfg.Name)
	if err != nil {
		return nil, err
	}
	stdinR, stdinW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run: start %s: %w", cfg.Name, err)
	}
	defer stdinR.Close()
	stdoutR, stdoutW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run: start %s: %w", cfg.Name, err)
	}
	defer stdoutW.Close()
	p, err := h.Start(ctx, lab.Program{Argv: []string{lab.Self, "worker"}, Stdin: stdinR, Stdout: stdoutW, Log: logTo})
	if err != nil {
		return nil, err
	}
	w := &workerProc{Process: p, orders: json.NewEncoder(stdinW), gone: make(chan struct{}), waiting: map[string]chan worker.Report{}}
	for _, what := range []string{worker.SayReady, worker.SayCaught, worker.SaySilent, worker.SayHeld, worker.SayClock, worker.SayDone, worker.SayFailed} {
		w.waiting[what] = make(chan worker.Report, 1)
	}
	go w.listen(stdoutR)
	if err := w.orders.Encode(cfg); err != nil {
		return nil, fmt.Errorf("run: configure %s: %w", cfg.Name, err)
	}
	return w, nil
}

// listen keeps the newest report of every kind.
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
		w.keep(r)
	}
}

func (w *workerProc) keep(r worker.Report) {
	ch, ok := w.waiting[r.Say]
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-ch:
	default:
	}
	ch <- r
}

// forget drops an old report, before an order that causes a new one.
func (w *workerProc) forget(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.waiting[what]:
	default:
	}
}

var errGone = errors.New("the worker has ended")

func (w *workerProc) await(ctx context.Context, what string) (worker.Report, error) {
	select {
	case r := <-w.waiting[what]:
		return r, nil
	case r := <-w.waiting[worker.SayFailed]:
		return r, fmt.Errorf("run: %s: %s", w.Name(), r.Error)
	case <-w.gone:
		select { // what it said last
		case r := <-w.waiting[what]:
			return r, nil
		case r := <-w.waiting[worker.SayFailed]:
			return r, fmt.Errorf("run: %s: %s", w.Name(), r.Error)
		default:
			return worker.Report{}, fmt.Errorf("run: await %q of %s: %w", what, w.Name(), errGone)
		}
	case <-ctx.Done():
		return worker.Report{}, fmt.Errorf("run: await %q of %s: %w", what, w.Name(), ctx.Err())
	}
}

func (w *workerProc) order(o worker.Order) error {
	w.ordersMu.Lock()
	defer w.ordersMu.Unlock()
	if err := w.orders.Encode(o); err != nil {
		return fmt.Errorf("run: order %s to %s: %w", w.Name(), o.Do, err)
	}
	return nil
}

func (w *workerProc) alive() bool {
	select {
	case <-w.gone:
		return false
	default:
		return true
	}
}

// Catch implements [lb.Worker].
func (w *workerProc) Catch(ctx context.Context, step string, how lb.Grip) (lb.Caught, error) {
	w.forget(worker.SayCaught)
	if how == lb.Kill {
		w.doomed.Store(true)
	}
	if err := w.order(worker.Order{Do: worker.DoCatch, Step: step, How: how}); err != nil {
		return lb.Caught{}, err
	}
	r, err := w.await(ctx, worker.SayCaught)
	if err != nil {
		_ = w.order(worker.Order{Do: worker.DoUncatch}) // if it just ended, nobody is caught either
		return lb.Caught{}, fmt.Errorf("no client of %s came to the step %s: %w", w.Name(), step, err)
	}
	return lb.Caught{Worker: w, Client: r.Client, ID: r.ID, LetGo: func(ctx context.Context) (time.Duration, error) {
		return w.letGo(ctx, how)
	}}, nil
}

// Passed implements [lb.Worker].
func (w *workerProc) Passed(ctx context.Context, step string) error {
	_, err := w.Catch(ctx, step, worker.Notice)
	return err
}

func (w *workerProc) letGo(ctx context.Context, how lb.Grip) (time.Duration, error) {
	switch how {
	case lb.Freeze:
		w.forget(worker.SaySilent)
		if err := w.Signal(syscall.SIGCONT); err != nil {
			return 0, err
		}
		r, err := w.await(ctx, worker.SaySilent)
		return r.Idle, err
	case lb.Hold:
		w.forget(worker.SayHeld)
		if err := w.order(worker.Order{Do: worker.DoLetGo}); err != nil {
			return 0, err
		}
		r, err := w.await(ctx, worker.SayHeld)
		return r.Idle, err
	default:
		select {
		case <-w.gone:
			return 0, nil
		case <-ctx.Done():
			return 0, fmt.Errorf("run: %s should be dead and is not: %w", w.Name(), ctx.Err())
		}
	}
}

// SetClock implements [lb.Worker].
func (w *workerProc) SetClock(ctx context.Context, step time.Duration, rate float64) (time.Duration, error) {
	w.forget(worker.SayClock)
	if err := w.order(worker.Order{Do: worker.DoClock, Jump: step, Rate: rate}); err != nil {
		return 0, err
	}
	r, err := w.await(ctx, worker.SayClock)
	return r.Ahead, err
}

// startWorkers starts the plan's worker processes, each on a host of its own,
// and returns when all their clients have their sessions.
func startWorkers(ctx context.Context, l lab.Lab, dir *rundir.Run, service *lab.Service, store string) ([]*workerProc, error) {
	var ws []*workerProc
	plan := dir.Plan
	for i := range plan.Processes {
		name := rundir.Worker(i + 1)
		logTo, err := dir.OpenLog(name)
		if err != nil {
			return ws, err
		}
		defer logTo.Close()
		w, err := startWorker(ctx, l, worker.Config{
			Name: name, Plan: plan, Store: store,
			Servers: service.Endpoints(), Sentinels: lab.Endpoints(service.Sentinels),
			Clients: share(plan.Clients, plan.Processes, i),
			Events:  dir.EventsFile(name),
		}, logTo)
		if err != nil {
			return ws, err
		}
		ws = append(ws, w)
	}
	for _, w := range ws {
		if _, err := w.await(ctx, worker.SayReady); err != nil {
			return ws, err
		}
	}
	return ws, nil
}

// share divides n things among the parts as evenly as can be.
func share(n, parts, i int) int {
	if i < n%parts {
		return n/parts + 1
	}
	return n / parts
}
