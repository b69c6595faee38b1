package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/lockbench/lockbench/lab"
)

// plain is a lab of processes of this machine, on loopback addresses: for containers and build machines
// that allow no namespaces (PostgreSQL needs one, where root starts it). Its hosts share one network and one disk, with others, too.
func plain() lab.Driver {
	const network, disk = "its hosts share this machine's loopback network", "its servers write to the directory for temporary files, which others use, too"
	return lab.Driver{
		Name: "plain", Doc: "processes of this machine, on loopback addresses",
		Claims: []lab.Ability{lab.Strike, lab.StallDisk, lab.ServerClocks, lab.ClientClocks, lab.OwnServers, lab.Programs},
		Lacks: map[lab.Ability]string{
			lab.Packets: network, lab.Distance: network, lab.MovingAddress: network, lab.OwnDisk: disk, lab.FullDisk: disk,
			lab.ClientHosts: "its servers see all clients at 127.0.0.1",
			lab.OwnClocks:   "all programs have this machine's clock",
			lab.OwnImages:   "its servers are programs of this machine",
		},
		Enter: func(_ context.Context, cmd *exec.Cmd) (*lab.Launcher, func() error, error) {
			lab.Detach(cmd)
			thread, err := lab.NewLauncher(nil)
			return thread, func() error { return nil }, err
		},
		Open: open, Ask: lab.Local().Ask,
		Ready: func(_ context.Context, kinds []lab.Kind) (err error) {
			for _, k := range kinds {
				err = errors.Join(err, k.Missing())
			}
			return err
		},
	}
}

type plainLab struct {
	dir   string
	mu    sync.Mutex
	hosts []*plainHost
}

func open(context.Context) (lab.Lab, error) {
	dir, err := os.MkdirTemp("", "plain-")
	return &plainLab{dir: dir}, err
}

func (l *plainLab) Network() lab.Network { return nil }

// Host gives out addresses that no other lab of these 64,000 processes has: each is opened by one of its own, and several are at once.
func (l *plainLab) Host(_ context.Context, name, _ string) (lab.Host, error) {
	thread, err := lab.NewLauncher(nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	addr := fmt.Sprintf("127.%d.%d.%d", 1+os.Getpid()/256%250, os.Getpid()%256, len(l.hosts)+1)
	l.hosts = append(l.hosts, &plainHost{Place: lab.Place{Name: name, Addr: addr, Dir: filepath.Join(l.dir, name)}, thread: thread})
	return l.hosts[len(l.hosts)-1], err
}

func (l *plainLab) Close() error {
	for _, h := range l.hosts {
		for p := range h.running.Range {
			p.(*lab.Child).Kill()
		}
		h.thread.Close()
	}
	return os.RemoveAll(l.dir)
}

type plainHost struct {
	lab.Place
	thread  *lab.Launcher
	running sync.Map // of *lab.Child
}

func (h *plainHost) Name() string            { return h.Place.Name }
func (h *plainHost) Addr() string            { return h.Place.Addr }
func (h *plainHost) Dir() string             { return h.Place.Dir }
func (h *plainHost) Do(f func() error) error { return f() }

func (h *plainHost) Start(ctx context.Context, p lab.Program) (lab.Process, error) {
	if p.Fresh {
		_ = os.RemoveAll(h.Dir()) // what is left is seen by who starts there
	}
	if err := os.MkdirAll(h.Dir(), 0o755); err != nil {
		return nil, err
	}
	c, err := lab.StartChild(ctx, h.thread, h.Place, p)
	if err == nil {
		h.running.Store(c, nil)
	}
	return c, err
}
