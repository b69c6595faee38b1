package lab

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
)

// Launcher starts programs from one operating system thread of its own.
//
// Two things make that necessary. Linux sends a child its parent death signal
// when the thread that started it ends, and Go ends and reuses threads as it
// likes. And a child inherits the namespaces of the thread that started it, so
// a thread that was moved into a host's namespaces starts programs on that host.
type Launcher struct {
	jobs chan func()
	quit chan struct{}
	once sync.Once
}

// NewLauncher starts the thread. enter, if not nil, runs on it first, to move it
// into namespaces for example; its error is returned as it is.
func NewLauncher(enter func() error) (*Launcher, error) {
	l := &Launcher{jobs: make(chan func()), quit: make(chan struct{})}
	entered := make(chan error, 1)
	go l.run(enter, entered)
	if err := <-entered; err != nil {
		return nil, err
	}
	return l, nil
}

// run never unlocks the thread: when it returns the runtime throws the thread
// away, since nobody else should run in another host's namespaces.
func (l *Launcher) run(enter func() error, entered chan<- error) {
	runtime.LockOSThread()
	if enter != nil {
		if err := enter(); err != nil {
			entered <- err
			return
		}
	}
	entered <- nil
	for {
		select {
		case job := <-l.jobs:
			job()
		case <-l.quit:
			return
		}
	}
}

// Do runs f on the launcher's thread and returns its error.
func (l *Launcher) Do(f func() error) error {
	done := make(chan error, 1)
	select {
	case l.jobs <- func() { done <- f() }:
		return <-done
	case <-l.quit:
		return errors.New("launcher is closed")
	}
}

// Start starts cmd from the launcher's thread.
func (l *Launcher) Start(cmd *exec.Cmd) error { return l.Do(cmd.Start) }

// Close ends the thread. End its programs first: the kernel may kill those that
// are left.
func (l *Launcher) Close() { l.once.Do(func() { close(l.quit) }) }
