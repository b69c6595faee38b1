package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// doorFile is the listener on the machine's loopback that the cluster inherits. A socket stays
// in the network namespace in which it was made.
const doorFile = 3

// runCluster is the first process of the cluster's namespaces: it starts the control plane
// and the nodes, and does what it is told on its socket.
func runCluster(dir string) error {
	c, err := load(dir)
	if err != nil {
		return err
	}
	if err := ownMounts(); err != nil {
		return err
	}
	// The API server labels things with it, and the machine's own may be no label.
	if err := syscall.Sethostname([]byte("control-plane")); err != nil {
		return err
	}
	if c.Snapshotter, err = c.findSnapshotter(); err == nil {
		err = c.write()
	}
	if err != nil {
		return err
	}
	if err := makeGroups(c.Groups); err != nil {
		return err
	}
	door, err := net.FileListener(os.NewFile(doorFile, "door"))
	if err != nil {
		return fmt.Errorf("take over the listener: %w", err)
	}
	if err := makeBridge(c.Nodes); err != nil {
		return err
	}
	go relay(door, net.JoinHostPort(controlPlane, apiPort))
	if err := c.startControlPlane(); err != nil {
		return err
	}
	nodes := &nodes{cluster: c, running: map[int]*node{}}
	for number := 1; number <= c.Nodes; number++ {
		if err := nodes.start(number); err != nil {
			return err
		}
	}
	listener, err := net.Listen("unix", c.control())
	if err != nil {
		return err
	}
	return http.Serve(listener, nodes)
}

// relay copies what comes through the door to the API server, and back.
func relay(door net.Listener, to string) {
	for {
		outside, err := door.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, "accept a connection:", err)
			time.Sleep(time.Second) // too many files are open, and some will be closed
			continue
		}
		go func() {
			defer outside.Close()
			inside, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer inside.Close()
			done := make(chan struct{}, 2)
			for _, way := range [][2]net.Conn{{inside, outside}, {outside, inside}} {
				go func() {
					_, _ = io.Copy(way[0], way[1]) // whatever ended it, the other way ends too
					done <- struct{}{}
				}()
			}
			<-done
		}()
	}
}

func (c cluster) startControlPlane() error {
	programs := [][]string{
		{"etcd", "--data-dir", filepath.Join(c.Dir, "etcd"), "--unsafe-no-fsync", "--log-level", "warn",
			"--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
			"--listen-peer-urls", "http://127.0.0.1:2380", "--initial-advertise-peer-urls", "http://127.0.0.1:2380",
			"--initial-cluster", "default=http://127.0.0.1:2380"},
		{"kube-apiserver", "--etcd-servers", "http://127.0.0.1:2379",
			"--bind-address", controlPlane, "--advertise-address", controlPlane, "--secure-port", apiPort,
			"--tls-cert-file", c.secret("apiserver.crt"), "--tls-private-key-file", c.secret("apiserver.key"),
			"--client-ca-file", c.secret("ca.crt"), "--authorization-mode", "Node,RBAC",
			"--kubelet-client-certificate", c.secret("kubelet-client.crt"), "--kubelet-client-key", c.secret("kubelet-client.key"),
			"--kubelet-preferred-address-types", "InternalIP",
			"--service-account-issuer", "https://kubernetes.default.svc",
			"--service-account-key-file", c.secret("service-accounts.key"), "--service-account-signing-key-file", c.secret("service-accounts.key"),
			"--service-cluster-ip-range", serviceRange, "--allow-privileged", "--profiling=false",
			// A test does not wait five minutes until the pods of a stopped node are run elsewhere.
			"--default-not-ready-toleration-seconds", "5", "--default-unreachable-toleration-seconds", "5"},
		{"kube-controller-manager", "--kubeconfig", c.secret("kube-controller-manager"),
			"--leader-elect=false", "--bind-address", "127.0.0.1", "--use-service-account-credentials",
			"--service-account-private-key-file", c.secret("service-accounts.key"), "--root-ca-file", c.secret("ca.crt"),
			"--node-monitor-period", "1s", "--node-monitor-grace-period", "10s",
			// Which it makes, by default below the machine's /usr/libexec.
			"--flex-volume-plugin-dir", filepath.Join(c.Dir, "volume-plugins")},
		{"kube-scheduler", "--kubeconfig", c.secret("kube-scheduler"), "--leader-elect=false", "--bind-address", "127.0.0.1"},
	}
	for _, program := range programs {
		log, err := c.openLog(program[0])
		if err != nil {
			return err
		}
		go keep(log, filepath.Join(c.Programs, program[0]), program[1:]...)
	}
	return nil
}
