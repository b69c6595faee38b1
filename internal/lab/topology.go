package lab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// ErrMissing is a server's program that is not installed.
var ErrMissing = errors.New("not installed")

// Topology is a lock service as data: so many servers of one kind.
type Topology struct {
	Name    string `json:"name"`
	Doc     string `json:"doc"`
	Kind    string `json:"kind"` // "" for no server at all
	Servers int    `json:"servers"`
	// Sentinels watch the servers and promote one when their leader fails.
	Sentinels int `json:"sentinels,omitempty"`
	// Virtual: clients use one address, which moves to the server that is promoted.
	Virtual bool `json:"virtual,omitempty"`
	// Delayed: a server that crashed stays down for longer than any lease.
	Delayed bool `json:"delayed,omitempty"`
}

// Leads reports whether one of the servers leads the others.
func (t Topology) Leads() bool { return t.Servers > 1 && kinds[t.Kind].leads != nil }

// Elects reports whether the servers find a new leader by themselves.
func (t Topology) Elects() bool { return t.Leads() && kinds[t.Kind].promote == nil }

// Quorum reports whether the servers agree by majority before they answer.
func (t Topology) Quorum() bool { return kinds[t.Kind].quorum }

// Clock reports whether the servers' clocks can be moved.
func (t Topology) Clock() bool { return kinds[t.Kind].clock != nil }

// Topologies are all there are.
func Topologies() []Topology {
	return []Topology{
		{Name: "none", Doc: "no lock service", Kind: "", Servers: 0},
		{Name: "redis", Doc: "one Redis server", Kind: "redis", Servers: 1},
		{Name: "redis-5", Doc: "five independent Redis servers", Kind: "redis", Servers: 5},
		{Name: "redis-5-delayed", Doc: "five independent Redis servers; one that crashed stays down for longer than any lease", Kind: "redis", Servers: 5, Delayed: true},
		{Name: "redis-sentinel", Doc: "a Redis master, two replicas and three Sentinels", Kind: "redis-replicas", Servers: 3, Sentinels: 3},
		{Name: "zookeeper", Doc: "one ZooKeeper server", Kind: "zookeeper", Servers: 1},
		{Name: "zookeeper-3", Doc: "a ZooKeeper ensemble of three", Kind: "zookeeper", Servers: 3},
		{Name: "zookeeper-5", Doc: "a ZooKeeper ensemble of five", Kind: "zookeeper", Servers: 5},
		{Name: "etcd", Doc: "one etcd server", Kind: "etcd", Servers: 1},
		{Name: "etcd-3", Doc: "an etcd cluster of three", Kind: "etcd", Servers: 3},
		{Name: "mariadb", Doc: "one MariaDB server", Kind: "mariadb", Servers: 1},
		{Name: "mariadb-replica", Doc: "a MariaDB primary and an asynchronous replica, behind one address", Kind: "mariadb-replica", Servers: 2, Virtual: true},
	}
}

// kind is what the servers of a topology are.
type kind struct {
	// needs are the programs that must be installed, and install says how to get
	// them; none where lockbench brings its own.
	needs   []string
	install string
	// program of one of the hosts, which are in the order of the topology, servers
	// before sentinels.
	program func(self Host, all []Host) Program
	// quorum: the servers agree by majority before they answer.
	quorum bool
	// leads reports whether the server at the endpoint leads the others; nil where
	// none does.
	leads func(ctx context.Context, endpoint string) (bool, error)
	// promote makes the server at the endpoint the leader, where they do not elect
	// one by themselves.
	promote func(ctx context.Context, endpoint string) error
	// clock reads the server's wall clock; nil where nobody can move it.
	clock func(ctx context.Context, endpoint string) (time.Time, error)
}

var kinds = map[string]kind{
	"redis":          {needs: []string{"redis-server"}, install: "apt-get install redis-server", program: redisProgram, clock: redisClock},
	"redis-replicas": {needs: []string{"redis-server"}, install: "apt-get install redis-server", program: redisReplica, leads: redisLeads, clock: redisClock},
	"sentinel":       {needs: []string{"redis-server"}, install: "apt-get install redis-server", program: sentinelProgram},
	"etcd":           {program: etcdProgram, quorum: true, leads: etcdLeads, clock: etcdClock},
	"zookeeper": {needs: []string{"java", zookeeperScript}, install: "apt-get install zookeeper default-jre-headless",
		program: zookeeperProgram, quorum: true, leads: zookeeperLeads, clock: zookeeperClock},
	"mariadb": {needs: []string{"mariadbd", "mariadb-install-db"}, install: "apt-get install mariadb-server", program: mariadbProgram, clock: mariadbClock},
	"mariadb-replica": {needs: []string{"mariadbd", "mariadb-install-db"}, install: "apt-get install mariadb-server",
		program: mariadbReplica, leads: mariadbLeads, promote: mariadbPromote, clock: mariadbClock},
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
