package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	// install says how to get the program; "" where lockbench brings it.
	install string
	program func(self Host, all []Host) Program
}

var kinds = map[string]kind{
	"redis": {"apt-get install redis-server", redisProgram},
	"etcd":  {"", etcdProgram},
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
	k, ok := kinds[t.Kind]
	if !ok || k.install == "" {
		return nil
	}
	if _, err := resolve(k.program(nowhere{}, []Host{nowhere{}}).Argv); err != nil {
		return fmt.Errorf("%w: run 'make servers' or '%s'", err, k.install)
	}
	return nil
}

// embedded are the servers that this program contains; in a container they are
// the image's own.
var embedded = []string{"etcd"}

// resolve finds the program of a command on this machine.
func resolve(argv []string) ([]string, error) {
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

func redisProgram(Host, []Host) Program {
	return Program{
		Image: "redis",
		Argv: []string{"redis-server", "--bind", "{addr}", "--port", "{port}", "--save", "", "--appendonly", "no",
			"--protected-mode", "no", "--dir", Scratch},
		Port:  6379,
		Ready: redisReady,
	}
}

// redisReady sends PING and wants PONG. An open port is not enough: a Redis that
// is loading its data has one.
func redisReady(ctx context.Context, endpoint string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return err
	}
	defer c.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(end)
	}
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && !strings.HasPrefix(answer, "+PONG") {
		err = fmt.Errorf("redis answered %q to PING", answer)
	}
	return err
}

func etcdProgram(self Host, all []Host) Program {
	peers := make([]string, len(all))
	for i, h := range all {
		peers[i] = fmt.Sprintf("%s=http://%s:2380", h.Name(), h.Addr())
	}
	return Program{
		Image: "etcd",
		Argv: []string{"etcd", "--name", self.Name(), "--data-dir", Scratch + "/{addr}",
			"--listen-client-urls", "http://{addr}:{port}", "--advertise-client-urls", "http://" + self.Addr() + ":{port}",
			"--listen-peer-urls", "http://{addr}:2380", "--initial-advertise-peer-urls", "http://" + self.Addr() + ":2380",
			"--initial-cluster", strings.Join(peers, ","),
			// etcd raises a lease's TTL to 1.5 election timeouts, in whole seconds:
			// with its default of 1 s no lease could be as short as 1 s.
			"--heartbeat-interval", "50", "--election-timeout", "500"},
		Port:  2379,
		Ready: etcdReady,
	}
}

// nowhere is a host for asking a kind what its program is called.
type nowhere struct{}

func (nowhere) Name() string { return "nowhere" }
func (nowhere) Addr() string { return "nowhere" }
func (nowhere) Start(context.Context, Program) (Process, error) {
	return nil, errors.New("lab: nothing runs nowhere")
}

// FindTopology returns the topology of that name.
func FindTopology(name string) (Topology, bool) {
	i := slices.IndexFunc(Topologies(), func(t Topology) bool { return t.Name == name })
	if i < 0 {
		return Topology{}, false
	}
	return Topologies()[i], true
}
