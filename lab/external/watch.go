package external

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// watch asks servers again and again, and measures the longest time without an answer.
type watch struct {
	stop  context.CancelFunc
	all   sync.WaitGroup
	mu    sync.Mutex
	worst lab.Outage
	usual time.Duration
}

// A server is asked so often, and so long it may take: a frozen one is asked again.
const (
	watchPause  = 50 * time.Millisecond
	watchAnswer = 500 * time.Millisecond
)

// begin begins when all have answered, each some times: so it knows how long they take.
func begin(ctx context.Context, relays []*relay) (*watch, error) {
	ctx, stop := context.WithCancel(ctx)
	w := &watch{stop: stop}
	ready := make(chan error, len(relays))
	for _, r := range relays {
		w.all.Go(func() { w.look(ctx, r, ready) })
	}
	for range relays {
		if err := <-ready; err != nil {
			w.end()
			return nil, err
		}
	}
	return w, nil
}

// look reports whether the server answers, once, and then watches it.
func (w *watch) look(ctx context.Context, r *relay, ready chan<- error) {
	v, err := r.known(ctx, w)
	ready <- err
	if err != nil {
		return
	}
	last := time.Now()
	for ctx.Err() == nil {
		if v == nil {
			v, _ = r.again(ctx)
		}
		if v != nil && asked(ctx, v) == nil {
			w.note(r.addr, time.Since(last))
			last = time.Now()
		} else if v != nil {
			_ = v.Close()
			v = nil
		}
		pause(ctx)
	}
	w.note(r.addr, time.Since(last))
	if v != nil {
		_ = v.Close()
	}
}

// known visits the server, and measures how long it takes to answer.
func (r *relay) known(ctx context.Context, w *watch) (lab.Visit, error) {
	const times = 3
	v, err := r.again(ctx)
	for n := 0; n < times && err == nil; n++ {
		asks := time.Now()
		err = asked(ctx, v)
		w.mu.Lock()
		w.usual = max(w.usual, time.Since(asks))
		w.mu.Unlock()
	}
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", r.addr, r.why(err))
	}
	return v, nil
}

func (r *relay) again(ctx context.Context) (lab.Visit, error) {
	ctx, cancel := context.WithTimeout(ctx, lab.VisitBound)
	defer cancel()
	v, err := r.guest.Visit(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := asked(ctx, v); err != nil { // by now it has connected, and logged in
		_ = v.Close()
		return nil, err
	}
	return v, nil
}

func asked(ctx context.Context, v lab.Visit) error {
	ctx, cancel := context.WithTimeout(ctx, watchAnswer)
	defer cancel()
	return v.Answers(ctx)
}

func pause(ctx context.Context) {
	select {
	case <-time.After(watchPause):
	case <-ctx.Done():
	}
}

func (w *watch) note(server string, silent time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if silent > w.worst.For {
		w.worst = lab.Outage{Server: server, For: silent}
	}
}

// end stops looking, and says what was seen.
func (w *watch) end() lab.Outage {
	w.stop()
	w.all.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.worst.Usual = w.usual
	return w.worst
}
