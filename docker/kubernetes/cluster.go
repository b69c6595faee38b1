package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// Addresses, none of which leaves the namespaces. The network of the nodes is 10.240.0.0/24, of
// which the first is the control plane's; node 2 is 10.240.0.12, and its pods 10.241.2.0/24.
const (
	controlPlane = "10.240.0.1"
	nodesMask    = "/24"
	serviceRange = "10.242.0.0/24"
	serviceOfAPI = "10.242.0.1"
	podRange     = "10.241.0.0/16"
	apiPort      = "6443"
)

func nodeAddress(number int) string { return "10.240.0." + strconv.Itoa(10+number) }
func nodePods(number int) string    { return "10.241." + strconv.Itoa(number) + ".0/24" }
func nodeName(number int) string    { return "node" + strconv.Itoa(number) }

// cluster is what up writes down for everybody else, in the directory of the cluster.
type cluster struct {
	Dir         string `json:"dir"`
	Nodes       int    `json:"nodes"`
	Programs    string `json:"programs"`
	Groups      string `json:"control_groups"`        // their name below the root of each hierarchy
	Snapshotter string `json:"snapshotter,omitempty"` // known when it has been tried
}

const clusterFile = "cluster.json"

func newCluster(dir, programs string, nodes int) cluster {
	sum := fnv.New32a()
	sum.Write([]byte(dir))
	return cluster{Dir: dir, Nodes: nodes, Programs: programs, Groups: fmt.Sprintf("lockbench-kubernetes-%08x", sum.Sum32())}
}

// checkNew says why a cluster can't be in a directory, which must be new or empty, since down
// removes it.
func checkNew(dir string) error {
	// The kernel takes 107 bytes for the path of a socket.
	if over := len(filepath.Join(dir, nodeName(1), "run", containerdSocket)) - 107; over > 0 {
		return fmt.Errorf("the path of %s is %d bytes too long for the sockets in it: name a shorter one", dir, over)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := load(dir); err == nil {
		return fmt.Errorf("%s has a cluster already: use it, or end it with down %s", dir, dir)
	}
	return fmt.Errorf("%s is not empty: name a directory that can be removed afterwards", dir)
}

// save makes the directory, and what others read there.
func (c cluster) save() error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	for _, path := range []string{c.logs(), c.secrets()} {
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
	}
	return c.write()
}

func (c cluster) write() error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(c.Dir, clusterFile)
	return errors.Join(os.WriteFile(file+".new", data, 0o644), os.Rename(file+".new", file))
}

func load(dir string) (cluster, error) {
	var c cluster
	data, err := os.ReadFile(filepath.Join(dir, clusterFile))
	if errors.Is(err, os.ErrNotExist) {
		return c, fmt.Errorf("%s has no cluster: begin one with up %s", dir, dir)
	}
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(data, &c)
}

func (c cluster) logs() string           { return filepath.Join(c.Dir, "log") }
func (c cluster) secrets() string        { return filepath.Join(c.Dir, "secrets") }
func (c cluster) kubeconfig() string     { return filepath.Join(c.Dir, "kubeconfig") }
func (c cluster) pidFile() string        { return filepath.Join(c.Dir, "pid") }
func (c cluster) control() string        { return filepath.Join(c.Dir, "control.sock") }
func (c cluster) node(number int) string { return filepath.Join(c.Dir, nodeName(number)) }

// answers says whether somebody accepts connections on a socket.
func answers(socket string) bool {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
