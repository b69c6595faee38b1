package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// nodes starts and stops the nodes, each of which is a process with namespaces of its own.
type nodes struct {
	cluster
	mu      sync.Mutex
	running map[int]*node
}

// node is a node's first process, and done is closed when that has ended.
type node struct {
	process *os.Process
	done    chan struct{}
}

// ServeHTTP takes what tell says, and answers with an error or nothing.
func (n *nodes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.FormValue("node"))
	if err == nil && (number < 1 || number > n.Nodes) {
		err = fmt.Errorf("there is no node %d: the cluster has %d", number, n.Nodes)
	}
	if err == nil {
		switch r.URL.Path {
		case "/start":
			err = n.start(number)
		case "/stop":
			err = n.stop(number)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func (n *nodes) start(number int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running[number] != nil {
		return fmt.Errorf("node %d runs already", number)
	}
	// After a power cut no container has a control group, and a kubelet is slow that finds some.
	group := filepath.Join(n.Groups, nodeName(number))
	if err := removeGroups(group); err != nil {
		return err
	}
	if err := makeGroups(group); err != nil {
		return err
	}
	if err := n.prepare(number); err != nil {
		return err
	}
	log, err := n.openLog(nodeName(number))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command("/proc/self/exe", verbNode, n.Dir, strconv.Itoa(number))
	command.Env = environment
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start node %d: %w", number, err)
	}
	if err := join(number, command.Process.Pid); err != nil {
		return errors.Join(err, command.Process.Kill(), command.Wait())
	}
	started := &node{command.Process, make(chan struct{})}
	n.running[number] = started
	go func() {
		err := command.Wait()
		close(started.done)
		n.forget(number, started, err)
	}()
	return nil
}

// forget is called when a node has ended, by itself or because it was stopped.
func (n *nodes) forget(number int, ended *node, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running[number] == ended {
		delete(n.running, number)
		fmt.Fprintf(os.Stderr, "node %d ended by itself (%v): see %s.log\n", number, err, nodeName(number))
	}
}

// stop ends all processes of a node as a power cut does.
func (n *nodes) stop(number int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	stopped := n.running[number]
	if stopped == nil {
		return fmt.Errorf("node %d doesn't run", number)
	}
	delete(n.running, number)
	err := stopped.process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	if err == nil {
		<-stopped.done
	}
	return err
}
