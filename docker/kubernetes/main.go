// Kubernetes builds, starts and stops a real Kubernetes on one Linux machine that reaches
// no image registry: one control plane and some nodes, for tests of lockbench.
//
//	go build -C docker/kubernetes -trimpath -o /tmp/kubernetes .
//	/tmp/kubernetes up /tmp/cluster          DIR/kubeconfig is for kubectl and lockbench
//	/tmp/kubernetes import /tmp/cluster -    an image, as docker save writes it, for all nodes
//	/tmp/kubernetes stop /tmp/cluster 2      node 2 and all its pods die at once
//	/tmp/kubernetes start /tmp/cluster 2     it is started again, as after a power cut
//	/tmp/kubernetes down /tmp/cluster        nothing is left, not even the directory
//
// Needs root and, from the distribution, containerd, runc, containernetworking-plugins and
// iptables (make test-kubernetes installs them). The programs of Kubernetes and etcd are
// built from their modules in the versions of go.mod, once, into the cache.
//
// Everything lives in namespaces that the kernel ends with their first process. The
// cluster's has the control plane and a bridge with private addresses that leads nowhere,
// and each node has one in it, with a containerd, a kubelet and a kube-proxy of its own, its
// own /run and /var, and its pods. Nothing is masqueraded or forwarded to the outside. The
// only way in is the listener on this machine's loopback that kubeconfig names. Outside of
// the namespaces are the directory, and the control groups of the pods.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const usage = `usage: kubernetes build  [-cache DIR] [kube-apiserver]
       kubernetes up     [-cache DIR] [-nodes 3] [-wait 3m] DIR
       kubernetes import DIR FILE    (FILE - is standard input)
       kubernetes stop   DIR NODE    (1, 2, …)
       kubernetes start  DIR NODE
       kubernetes down   DIR`

// errUsage is shown with the usage.
var errUsage = errors.New("these arguments don't fit")

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "kubernetes:", err)
	if errors.Is(err, errUsage) {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(64)
	}
	os.Exit(1)
}

func run(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.Usage = func() {}
	cache := flags.String("cache", defaultCache(), "")
	nodes := flags.Int("nodes", 3, "")
	wait := flags.Duration("wait", 3*time.Minute, "")
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	rest := flags.Args()
	if args[0] == "build" {
		alone := ""
		if len(rest) == 1 && rest[0] == "kube-apiserver" {
			alone = rest[0]
		} else if len(rest) > 0 {
			return errUsage
		}
		_, err := build(*cache, alone)
		return err
	}
	if len(rest) == 0 {
		return errUsage
	}
	dir, err := filepath.Abs(rest[0])
	if err != nil {
		return err
	}
	switch verb := args[0]; {
	case verb == "up" && len(rest) == 1:
		return up(dir, *cache, *nodes, *wait)
	case verb == "down" && len(rest) == 1:
		return down(dir)
	case verb == "import" && len(rest) == 2:
		return importImage(dir, rest[1])
	case (verb == "stop" || verb == "start") && len(rest) == 2:
		number, err := strconv.Atoi(rest[1])
		if err != nil {
			return fmt.Errorf("%w: a node is a number", errUsage)
		}
		return tell(dir, verb, number)
	case verb == verbCluster && len(rest) == 1:
		return asInit(func() error { return runCluster(dir) }, doorFile)
	case verb == verbNode && len(rest) == 2:
		number, _ := strconv.Atoi(rest[1])
		return asInit(func() error { return runNode(dir, number) })
	}
	return errUsage
}

// defaultCache is where the programs are kept from one start to the next.
func defaultCache() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "lockbench")
}
