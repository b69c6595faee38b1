// Package docker is the lab whose hosts are containers: it starts the servers of
// a run from images, on a network of its own, through testcontainers-go.
//
// Programs that are part of lockbench run as child processes on this machine,
// and reach the servers at ports published on its loopback interface. The lab
// cannot drop packets; it can pause and kill. It knows nothing of what the
// programs are, save for the table of their images.
package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"

	"github.com/lockbench/lockbench/lab"
)

// closeBound is how long Close may take to remove everything.
const closeBound = time.Minute

// containerLab implements [lab.Lab].
type containerLab struct {
	engine    *client.Client
	network   *testcontainers.DockerNetwork
	publishAt string // the address that ports are published at; "" for all
	launcher  *lab.Launcher
	dir       string
	owner     owner
	life      context.Context // ends when Close begins
	end       context.CancelFunc

	mu     sync.Mutex
	closed bool
	hosts  map[string]*host
}

// Open makes a lab with a network of its own. The output of programs that bring
// no Log goes to <host>.log in dir, or nowhere if dir is "". Close the lab, also
// after a failed run: what it made outlives this process otherwise, until
// [Clean].
func Open(ctx context.Context, dir string) (lab.Lab, error) {
	engine, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	l := &containerLab{engine: engine, dir: dir, owner: self(), hosts: map[string]*host{}}
	l.life, l.end = context.WithCancel(context.Background())
	if l.publishAt, err = publishAt(engine); err != nil {
		engine.Close()
		return nil, fmt.Errorf("docker: set up testcontainers: %w", err)
	}
	if l.launcher, err = lab.NewLauncher(nil); err != nil {
		engine.Close()
		return nil, err
	}
	if l.network, err = network.New(ctx, network.WithLabels(l.owner.labels())); err != nil {
		l.launcher.Close()
		engine.Close()
		return nil, fmt.Errorf("docker: make a network: %w; "+
			"if the engine has no addresses left, `lockbench clean` or `docker network prune` frees some", err)
	}
	return l, nil
}

// hostName is what a name must look like to be a network alias, and a file.
var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Host implements [lab.Lab]. The other containers reach it by its name, which
// must be a DNS label in lower case.
func (l *containerLab) Host(_ context.Context, name string) (lab.Host, error) {
	if !hostName.MatchString(name) {
		return nil, fmt.Errorf("docker: host %q: a name is made of a-z, 0-9 and inner hyphens", name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, fmt.Errorf("docker: host %s: %w", name, errClosed)
	case l.hosts[name] != nil:
		return nil, fmt.Errorf("docker: host %s: there is one of this name", name)
	}
	h := &host{lab: l, name: name, ports: map[int]int{}}
	l.hosts[name] = h
	return h, nil
}

var errClosed = errors.New("the lab is closed")

// Network implements [lab.Lab]: there is none.
func (l *containerLab) Network() lab.Network { return nil }

// Close implements [lab.Lab]. Only the first call does anything.
func (l *containerLab) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock() // no host is added from here on
	l.end()

	ctx, cancel := context.WithTimeout(context.Background(), closeBound)
	defer cancel()
	hosts := slices.Collect(maps.Values(l.hosts))
	errs := make([]error, len(hosts))
	var wg sync.WaitGroup
	for i, h := range hosts {
		wg.Go(func() { errs[i] = h.close(ctx) })
	}
	wg.Wait()
	if err := l.network.Remove(ctx); err != nil {
		errs = append(errs, fmt.Errorf("docker: remove the network: %w", err))
	}
	l.launcher.Close()
	errs = append(errs, l.engine.Close())
	return errors.Join(errs...)
}

// openLog opens the log of a host for appending; nil for none.
func (l *containerLab) openLog(name string) (*os.File, error) {
	if l.dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(l.dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(l.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}
