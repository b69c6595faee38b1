package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/clock"
)

// live are the programs that this process has started and that still run.
var live running

type running struct {
	mu  sync.Mutex
	all []*process
}

func (r *running) add(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, p)
}

func (r *running) remove(p *process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(one *process) bool { return one == p })
}

func (r *running) list() []*process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Running reports whether this process has programs.
func Running() bool { return len(live.list()) > 0 }

// Clocks is how far the clocks of this process's programs are ahead of the machine's, as they read them
// themselves: those of the one that differs least. The error is that of one that can't tell.
func Clocks(ctx context.Context) (wall, mono time.Duration, err error) {
	for i, p := range live.list() {
		m, err := p.ask(ctx, message{Do: doClock}, nil)
		switch {
		case err != nil:
			return 0, 0, err
		case m.Wall == 0 || m.Mono == 0:
			return 0, 0, fmt.Errorf("%s did not tell its wall_ns and mono_ns when it was asked for its clock", p.name)
		}
		w, o := time.Duration(m.Wall-clock.MachineWall().UnixNano()), time.Duration(m.Mono-int64(clock.Now()))
		if i == 0 || max(w.Abs(), o.Abs()) < max(wall.Abs(), mono.Abs()) {
			wall, mono = w, o
		}
	}
	return wall, mono, nil
}

// Ahead is how far the wall clocks of this process's programs are ahead of the machine's, as
// they read them themselves: that of the one whose clock differs least. The error is that of
// one that can't tell.
func Ahead(ctx context.Context) (least time.Duration, err error) {
	for i, p := range live.list() {
		if p.noClock != nil {
			return 0, fmt.Errorf("%s has the machine's clocks: %w", p.name, p.noClock)
		}
		m, err := p.ask(ctx, message{Do: doClock}, nil)
		if err != nil {
			return 0, err
		}
		if m.Wall == 0 {
			return 0, errors.New(p.name + " did not tell its wall_ns when it was asked for its clock")
		}
		ahead := time.Duration(m.Wall - clock.MachineWall().UnixNano())
		if i == 0 || ahead.Abs() < least.Abs() {
			least = ahead
		}
	}
	return least, nil
}
