// Package inlab has something done inside a lab by this very program, started again there: it
// is told what by a plan, and tells of what comes of it, one thing after the other.
package inlab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

const (
	planFile = "plan.json"
	toldFile = "told.jsonl"
)

// writing is how long a task that is interrupted may take to tell how far it came.
const writing = 5 * time.Second

// Send has a verb of this program do what the plan says, in a directory of its own that it
// removes, and passes on what it tells.
func Send[P, T any](ctx context.Context, driver lab.Driver, verb string, plan P, tell func(T)) error {
	sweep("lockbench-" + verb + "-*")
	dir, err := os.MkdirTemp("", "lockbench-"+verb+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	defer rundir.Hold(dir)()
	text, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	logTo, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return err
	}
	defer logTo.Close()
	told, err := os.Create(filepath.Join(dir, toldFile))
	if err != nil {
		return err
	}
	defer told.Close()
	if err := os.WriteFile(filepath.Join(dir, planFile), text, 0o644); err != nil {
		return err
	}
	stop := follow(told, tell)
	err = run.InLab(ctx, driver, logTo, writing, verb, dir)
	return errors.Join(err, stop())
}

// sweep removes what was left by those of whom nobody is there any more, since they were killed. One that
// is new may be about to be held.
func sweep(pattern string) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), pattern)) // the pattern is ours
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && time.Since(info.ModTime()) > time.Minute && !rundir.Held(dir) {
			_ = os.RemoveAll(dir) // somebody else's, perhaps
		}
	}
}

// follow tells of each line that is added to a file, until it is told to stop.
func follow[T any](f *os.File, tell func(T)) (stop func() error) {
	over, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		in := bufio.NewReader(f)
		var line []byte
		for last := false; ; {
			part, err := in.ReadBytes('\n')
			if line = append(line, part...); err == nil {
				var t T
				if err := json.Unmarshal(line, &t); err != nil {
					ended <- err
					return
				}
				tell(t)
				line = nil
				continue
			}
			if last {
				ended <- nil
				return
			}
			select {
			case <-over:
				last = true
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() error { close(over); return <-ended }
}

// Task is one, as who does it inside the lab sees it.
type Task[T any] struct {
	dir string

	mu  sync.Mutex
	out *os.File
	err error
}

// Receive reads the plan of a task.
func Receive[P, T any](dir string) (plan P, e *Task[T], err error) {
	text, err := os.ReadFile(filepath.Join(dir, planFile))
	if err == nil {
		err = json.Unmarshal(text, &plan)
	}
	if err != nil {
		return plan, nil, err
	}
	out, err := os.OpenFile(filepath.Join(dir, toldFile), os.O_WRONLY|os.O_APPEND, 0)
	return plan, &Task[T]{dir: dir, out: out}, err
}

// Tell tells of one thing.
func (e *Task[T]) Tell(t T) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var line bytes.Buffer
	err := json.NewEncoder(&line).Encode(t)
	if err == nil {
		_, err = e.out.Write(line.Bytes()) // a line at a time, for who follows
	}
	e.err = errors.Join(e.err, err)
}

// Close returns what went wrong with telling.
func (e *Task[T]) Close() error { return errors.Join(e.err, e.out.Close()) }

// Service brings a topology up on a lab that it opens, both by their names; end ends both.
func Service(ctx context.Context, c catalog.Catalog, on, topology, dir string, clocks bool) (t lab.Topology, s *lab.Service, end func() error, err error) {
	driver, err := c.Lab(on, "")
	if err != nil {
		return t, nil, nil, err
	}
	if t, err = c.Topology(topology); err != nil {
		return t, nil, nil, err
	}
	l, err := driver.Open(ctx)
	if err != nil {
		return t, nil, nil, err
	}
	s, err = lab.StartService(ctx, l, t, lab.Options{Clocks: clocks, Log: func(name string) (*os.File, error) {
		return os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	}})
	if err != nil {
		return t, nil, nil, errors.Join(err, l.Close())
	}
	return t, s, l.Close, nil
}
