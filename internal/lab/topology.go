package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// ErrMissing is a server's program that is not installed.
var ErrMissing = errors.New("not installed")

// Topology is a lock service as data: so many servers of one kind.
type Topology struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Kind    string `json:"kind"` // "" for no server at all
	Servers int    `json:"servers"`
}

// Topologies are all there are.
func Topologies() []Topology {
	return []Topology{
		{"none", "no lock service", "", 0},
		{"redis", "one Redis server", "redis", 1},
		{"etcd", "one etcd server", "etcd", 1},
		{"etcd-3", "an etcd cluster of three", "etcd", 3},
	}
}

// kind is what the servers of a topology are.
type kind struct {
	// needs are the programs that must be installed, and install says how to get
	// them; none where lockbench brings its own.
	needs   []string
	install string
	program func(self Host, all []Host) Program
}

var kinds = map[string]kind{
	"redis": {[]string{"redis-server"}, "apt-get install redis-server", redisProgram},
	"etcd":  {nil, "", etcdProgram},
}

// StartServers brings the topology up on hosts of l and returns its servers when
// all of them answer. log receives each server's output by the host's name.
func StartServers(ctx context.Context, l Lab, t Topology, log func(name string) (*os.File, error)) ([]Process, error) {
	var hosts []Host
	for i := range t.Servers {
		h, err := l.Host(ctx, fmt.Sprintf("%s%d", t.Kind, i+1))
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	// Together, because a server of a cluster is not ready before its peers are.
	procs, errs := make([]Process, len(hosts)), make(chan error)
	for i, h := range hosts {
		go func() {
			p := kinds[t.Kind].program(h, hosts)
			out, err := log(h.Name())
			if err == nil {
				defer out.Close()
				p.Log = out
				procs[i], err = h.Start(ctx, p)
			}
			errs <- err
		}()
	}
	var err error
	for range hosts {
		err = errors.Join(err, <-errs)
	}
	return procs, err
}

// Missing says which program the topology lacks on this machine, and how to get
// it, or nil. It wraps ErrMissing.
func (t Topology) Missing() error {
	k := kinds[t.Kind]
	for _, program := range k.needs {
		if _, err := Resolve([]string{program}); err != nil {
			return fmt.Errorf("%w: run 'make servers' or '%s'", err, k.install)
		}
	}
	return nil
}

// embedded are the servers that this program contains; in a container they are
// the image's own.
var embedded = []string{"etcd"}

// Resolve finds the program of a command on this machine.
func Resolve(argv []string) ([]string, error) {
	if argv[0] == Self {
		return argv, nil
	}
	if slices.Contains(embedded, argv[0]) {
		return append([]string{Self}, argv...), nil
	}
	path, err := exec.LookPath(argv[0])
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} { // often not in a user's PATH
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, argv[0]))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is %w", argv[0], ErrMissing)
	}
	return append([]string{path}, argv[1:]...), nil
}

// FindTopology returns the topology of that name.
func FindTopology(name string) (Topology, bool) {
	i := slices.IndexFunc(Topologies(), func(t Topology) bool { return t.Name == name })
	if i < 0 {
		return Topology{}, false
	}
	return Topologies()[i], true
}
