package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	lb "github.com/lockbench/lockbench"
)

// watch is the probe of a client: it tells when the client begins to wait, and
// remembers the requests that it lets pass.
type watch struct {
	waits chan struct{}

	mu     sync.Mutex
	passed []lb.Move // the steps before requests, with the requests' names
	begun  int       // sessions
}

func newWatch() *watch { return &watch{waits: make(chan struct{}, 1)} }

var _ lb.Probe = (*watch)(nil)

// Step lets a request pass unless its context is over.
func (w *watch) Step(ctx context.Context, m lb.Move) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(m.Name, lb.Before("")); ok {
		m.Name = name
		w.mu.Lock()
		defer w.mu.Unlock()
		w.passed = append(w.passed, m)
	}
	return nil
}

func (w *watch) Wait(_ context.Context, m lb.Move) func() {
	if m.Actor == lb.Main {
		select {
		case w.waits <- struct{}{}:
		default:
		}
	}
	return func() {}
}

// Session implements [lb.SessionProbe].
func (w *watch) Session(string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun++
}

// sessions is how many it was told of.
func (w *watch) sessions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun
}

func (w *watch) Go(lb.Actor) func()            { return func() {} }
func (w *watch) Renewed(*lb.Lease, lb.Reading) {}
func (w *watch) Lost(*lb.Lease, string)        {}

// requests are those that have passed.
func (w *watch) requests() []lb.Move {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.passed)
}

// record is what all checks together have seen of an algorithm's requests.
type record struct {
	mu     sync.Mutex
	checks int
	names  map[string]bool
}

// note takes in one check.
func (r *record) note(parties []*party) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks++
	for _, p := range parties {
		for _, m := range p.watch.requests() {
			r.names[m.Name] = true
		}
	}
}

// all reports whether so many checks were taken in.
func (r *record) all(checks int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.checks == checks
}

// compare wants them to be those that the algorithm declares.
func (r *record) compare(info lb.Info, rare map[string]string) (err error) {
	for name := range r.names {
		if !slices.Contains(info.Requests, name) {
			err = errors.Join(err, fmt.Errorf("the request %q is not among those that it names (requests, in its Info or describe)", name))
		}
	}
	for _, name := range info.Requests {
		if !r.names[name] && rare[name] == "" {
			err = errors.Join(err, fmt.Errorf("the request %q of its Info was never sent", name))
		}
	}
	if info.Takes != "" && !slices.Contains(info.Requests, info.Takes) {
		err = errors.Join(err, fmt.Errorf("the request that takes the lock, %q, is not among its requests", info.Takes))
	}
	return err
}
