package labtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// Paper is a lab on paper: its programs do nothing, but they start, are killed and
// leave a port free, and packets between its hosts are dropped. It shows what is done to
// servers, in the time of a test. The zero Paper is empty.
type Paper struct {
	// Dies is how long a program that was killed takes to end.
	Dies time.Duration

	mu      sync.Mutex
	hosts   []*paperHost
	dropped map[[2]string]bool
}

// Host implements [lab.Lab].
func (p *Paper) Host(_ context.Context, name, _ string) (lab.Host, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := &paperHost{lab: p, name: name}
	p.hosts = append(p.hosts, h)
	return h, nil
}

// Network implements [lab.Lab].
func (p *Paper) Network() lab.Network { return paperNetwork{p} }

// Close implements [lab.Lab].
func (p *Paper) Close() error { return nil }

// Starts is how often a program was started on the host.
func (p *Paper) Starts(host string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		if h.name == host {
			n += h.starts
		}
	}
	return n
}

// Sees are the hosts with a running program that exchange packets with the host both
// ways, itself first; none if nothing runs on it.
func (p *Paper) Sees(host string) (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		switch {
		case !h.running():
		case h.name == host:
			all = append([]string{host}, all...)
		case !p.dropped[[2]string{h.name, host}] && !p.dropped[[2]string{host, h.name}]:
			all = append(all, h.name)
		}
	}
	if len(all) == 0 || all[0] != host {
		return nil
	}
	return all
}

type paperNetwork struct{ lab *Paper }

// Drop implements [lab.Network].
func (n paperNetwork) Drop(from, to []lab.Node, _ float64) (lab.Rule, error) {
	n.lab.mu.Lock()
	defer n.lab.mu.Unlock()
	if n.lab.dropped == nil {
		n.lab.dropped = map[[2]string]bool{}
	}
	r := paperRule{lab: n.lab}
	for _, a := range from {
		for _, b := range to {
			n.lab.dropped[[2]string{a.Name(), b.Name()}] = true
			r.pairs = append(r.pairs, [2]string{a.Name(), b.Name()})
		}
	}
	return r, nil
}

// Mute implements [lab.Network].
func (n paperNetwork) Mute(from, to []lab.Node) (lab.Rule, error) { return n.Drop(from, to, 1) }

// Overhear implements [lab.Network]: nobody says anything on paper.
func (paperNetwork) Overhear(lab.Node, func(lab.Segment)) (lab.Overheard, error) { return nil, nil }

// Connections implements [lab.Network]: nobody is connected on paper.
func (paperNetwork) Connections(_, _ []lab.Node) ([]lab.Connection, error) { return nil, nil }

type paperRule struct {
	lab   *Paper
	pairs [][2]string
}

// Packets implements [lab.Rule]: one of each pair.
func (r paperRule) Packets() (uint64, error) { return uint64(len(r.pairs)), nil }

// Remove implements [lab.Rule].
func (r paperRule) Remove() error {
	r.lab.mu.Lock()
	defer r.lab.mu.Unlock()
	for _, p := range r.pairs {
		delete(r.lab.dropped, p)
	}
	return nil
}

type paperHost struct {
	lab    *Paper
	name   string
	starts int
	now    *paperProcess
}

func (h *paperHost) Name() string { return h.name }
func (h *paperHost) Addr() string { return h.name }

func (h *paperHost) running() bool {
	if h.now == nil {
		return false
	}
	select {
	case <-h.now.ended:
		return false
	default:
		return true
	}
}

// Start implements [lab.Host]. A host has one port.
func (h *paperHost) Start(_ context.Context, p lab.Program) (lab.Process, error) {
	h.lab.mu.Lock()
	defer h.lab.mu.Unlock()
	if h.running() {
		return nil, fmt.Errorf("start %s: its port is taken", h.name)
	}
	h.starts++
	h.now = &paperProcess{paperHost: h, port: p.Port, ended: make(chan struct{})}
	return h.now, nil
}

type paperProcess struct {
	*paperHost
	port  int
	once  sync.Once
	ended chan struct{}
}

func (p *paperProcess) Endpoint() string { return lab.Endpoint(p.name, p.port) }

// Wait implements [lab.Process].
func (p *paperProcess) Wait() error {
	<-p.ended
	return errors.New("killed")
}

// Signal implements [lab.Process] for SIGKILL; no other does anything.
func (p *paperProcess) Signal(sig syscall.Signal) error {
	if sig != syscall.SIGKILL {
		return nil
	}
	end := func() { p.once.Do(func() { close(p.ended) }) }
	if p.lab.Dies == 0 {
		end()
	} else {
		time.AfterFunc(p.lab.Dies, end)
	}
	return nil
}
