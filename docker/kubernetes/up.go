package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// up builds what is not in the cache, starts a cluster in a directory, and returns when all
// nodes are ready. If that fails, the directory stays for its logs until down.
func up(dir, cache string, nodes int, wait time.Duration) error {
	if nodes < 1 || nodes > 9 {
		return fmt.Errorf("%w: one to nine nodes", errUsage)
	}
	if err := checkMachine(); err != nil {
		return err
	}
	if err := checkNew(dir); err != nil {
		return err
	}
	programs, err := build(cache, "")
	if err != nil {
		return err
	}
	c := newCluster(dir, programs, nodes)
	if err := c.save(); err != nil {
		return err
	}
	begun := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := c.begin(ctx); err != nil {
		return fmt.Errorf("%w\nthe logs are in %s, and kubernetes down %s removes what there is", err, c.logs(), dir)
	}
	fmt.Fprintf(os.Stderr, "%d nodes ready after %.1f s\n", nodes, time.Since(begun).Seconds())
	fmt.Println(c.kubeconfig())
	return nil
}

// checkMachine says what is missing before anything is built.
func checkMachine() error {
	if os.Geteuid() != 0 {
		return errors.New("namespaces and control groups of nodes need root: run it with sudo")
	}
	for program, from := range map[string]string{"containerd": "containerd", "ctr": "containerd", "runc": "runc", "iptables": "iptables", "/usr/lib/cni/bridge": "containernetworking-plugins"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is missing: apt-get install %s", program, from)
		}
	}
	return nil
}

// begin starts the cluster's first process and waits until it has nodes that take pods.
func (c cluster) begin(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	if err := c.writeSecrets(listener.Addr().String()); err != nil {
		return err
	}
	door, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer door.Close()
	log, err := c.openLog("cluster")
	if err != nil {
		return err
	}
	defer log.Close()
	first := exec.Command("/proc/self/exe", verbCluster, c.Dir)
	first.Env = environment
	first.Dir = "/"
	first.ExtraFiles = []*os.File{door}
	first.Stdout, first.Stderr = log, log
	first.SysProcAttr = &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
	}
	if err := first.Start(); err != nil {
		return fmt.Errorf("start the first process of the cluster: %w", err)
	}
	if err := os.WriteFile(c.pidFile(), []byte(strconv.Itoa(first.Process.Pid)), 0o644); err != nil {
		return errors.Join(err, first.Process.Kill(), first.Wait())
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Wait() }()
	return c.await(ctx, ended)
}

// await asks the API server until all is there, or the cluster has ended, or time is over.
func (c cluster) await(ctx context.Context, ended <-chan error) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	if err != nil {
		return err
	}
	config.Timeout = 10 * time.Second
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	for {
		missing := c.missing(ctx, client)
		if missing == nil {
			return nil
		}
		select {
		case err := <-ended:
			text, _ := os.ReadFile(filepath.Join(c.logs(), "cluster.log"))
			return fmt.Errorf("the cluster has ended (%v): %s", err, strings.TrimSpace(string(text)))
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return errors.New("interrupted")
			}
			return fmt.Errorf("not ready in the time that -wait gives: %w", missing)
		case <-time.After(250 * time.Millisecond):
		}
	}
}

// missing is what the cluster still lacks, or nil.
func (c cluster) missing(ctx context.Context, client kubernetes.Interface) error {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("the API server does not answer: %w", err)
	}
	ready := 0
	for _, node := range list.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	if ready < c.Nodes {
		return fmt.Errorf("%d of %d nodes are ready", ready, c.Nodes)
	}
	// Pods are refused until the controllers have made this one.
	if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return fmt.Errorf("the controllers have not begun: %w", err)
	}
	return nil
}
