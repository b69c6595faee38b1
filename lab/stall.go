package lab

import (
	"errors"
	"fmt"
	"sync"
)

// slowDisk holds a server's calls that wait for its disk, while it is stalled.
type slowDisk struct {
	mu      sync.Mutex
	stalled bool
	held    []func()
	n       int
}

// ask is one call that wants to wait for the disk; goOn lets it do so.
func (d *slowDisk) ask(goOn func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stalled {
		goOn()
		return
	}
	d.held, d.n = append(d.held, goOn), d.n+1
}

// ErrNoStall is a server whose disk can't be made to stall.
var ErrNoStall = errors.New("its disk can't be made to stall")

// StallDisk has every call of the server that waits for its disk wait until end, which says
// how many there were.
func (s *Server) StallDisk() (end func() (calls int), err error) {
	d := s.disk
	if d == nil {
		return nil, fmt.Errorf("%s: %w", s.Name(), ErrNoStall)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stalled, d.n = true, 0
	return func() int {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.stalled = false
		for _, goOn := range d.held {
			goOn()
		}
		d.held = nil
		return d.n
	}, nil
}
