package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/lockbench/lockbench/lab"
)

// host implements [lab.Host]: a name on the lab's network for programs that come
// in an image, and this machine for those that don't.
type host struct {
	lab  *containerLab
	name string

	mu     sync.Mutex
	closed bool
	// ports remembers at which port of this machine a program's port was to be
	// reached, so that a program started again is found where it was.
	ports      map[int]int
	children   []*lab.Child
	containers []*container
	log        *os.File
}

// Name implements [lab.Host].
func (h *host) Name() string { return h.name }

// Addr implements [lab.Host]: the name by which the containers of the lab reach
// it. Programs without an image are not on their network; the Addr of such a
// process is the loopback address.
func (h *host) Addr() string { return h.name }

// Start implements [lab.Host]. A container is a new one each time, so a program
// that is started again finds an empty disk. "{addr}" and "{port}" in the
// arguments become what the program should listen at: all addresses and p.Port
// in a container, the loopback address and a free port on this machine.
func (h *host) Start(ctx context.Context, p lab.Program) (lab.Process, error) {
	// A lab that is closed meanwhile does not wait for a pull.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.lab.life, cancel)()

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fmt.Errorf("docker: start %s: %w", h.name, errClosed)
	}
	if err := h.setLog(&p); err != nil {
		return nil, fmt.Errorf("docker: start %s: open its log: %w", h.name, err)
	}
	if p.Image == "" {
		return asProcess(h.startChild(ctx, p))
	}
	return asProcess(h.startContainer(ctx, p))
}

// asProcess keeps a nil pointer from becoming a process that is not nil.
func asProcess[P lab.Process](p P, err error) (lab.Process, error) {
	if err != nil {
		return nil, err
	}
	return p, nil
}

// setLog gives p the host's log if it has none of its own.
func (h *host) setLog(p *lab.Program) (err error) {
	if p.Log != nil {
		return nil
	}
	if h.log == nil {
		if h.log, err = h.lab.openLog(h.name); err != nil || h.log == nil {
			return err
		}
	}
	p.Log = h.log
	return nil
}

func (h *host) startChild(ctx context.Context, p lab.Program) (*lab.Child, error) {
	if asked := p.Port; asked != 0 {
		port, err := h.ports[asked], error(nil)
		if port == 0 {
			if port, err = lab.FreePort(loopback); err != nil {
				return nil, err
			}
			h.ports[asked] = port
		}
		p.Port = port
	}
	c, err := lab.StartChild(ctx, h.lab.launcher, lab.Place{Name: h.name, Addr: loopback}, p)
	if err != nil {
		return nil, err
	}
	h.children = append(h.children, c)
	return c, nil
}

// close ends and removes everything that was started here.
func (h *host) close(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var errs []error
	for _, c := range h.children {
		c.Kill()
	}
	for _, c := range h.containers {
		errs = append(errs, c.remove(ctx))
	}
	if h.log != nil {
		errs = append(errs, h.log.Close())
	}
	return errors.Join(errs...)
}
