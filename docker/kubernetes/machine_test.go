package main

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// touched are the places outside of a cluster's directory that Kubernetes, containerd and CNI
// use on a machine that is theirs. None may have come into being, or hold something new.
var touched = []string{
	"/etc/cni", "/etc/containerd", "/opt/cni", "/opt/containerd", "/run/netns", "/run/cluster",
	"/usr/libexec/kubernetes", "/var/lib/cni", "/var/lib/containerd", "/var/lib/etcd", "/var/lib/kubelet", "/var/log/containers", "/var/log/pods",
	"/var/run/kubernetes",
}

// lookAtMachine lists what a cluster could leave behind, by its place and what is there.
func lookAtMachine(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, place := range touched {
		entries, err := os.ReadDir(place)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		found[place] = "a directory"
		for _, entry := range entries {
			found[filepath.Join(place, entry.Name())] = "a file"
		}
	}
	for name := range tunables {
		value, err := os.ReadFile("/proc/sys/" + name)
		if err != nil {
			t.Fatal(err)
		}
		found["/proc/sys/"+name] = strings.TrimSpace(string(value))
	}
	roots, err := hierarchies()
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range roots {
		for _, name := range []string{"lockbench-kubernetes-*", "kubepods*", "k8s.io"} {
			groups, err := filepath.Glob(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range groups {
				found[group] = "a control group"
			}
		}
	}
	return found
}

// namespacesOf are those of a cluster that runs: the first process's, and all that its
// descendants have and it has not.
func namespacesOf(t *testing.T, dir string) map[string]bool {
	t.Helper()
	own := namespaces("self")
	found := map[string]bool{}
	for pid, line := range processes(t) {
		if !strings.Contains(line, dir) {
			continue
		}
		for link := range namespaces(pid) {
			if !own[link] {
				found[link] = true
			}
		}
	}
	// A user's process shares namespaces with the test, and is not looked for here.
	if len(found) < 4*5 {
		t.Fatalf("a cluster and three nodes have five namespaces each, but there are only %v", slices.Sorted(maps.Keys(found)))
	}
	return found
}

// processes are the command lines of all processes.
func processes(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil {
			found[filepath.Base(filepath.Dir(file))] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}

// namespaces are those of a process, such as net:[4026531840].
func namespaces(pid string) map[string]bool {
	links, _ := filepath.Glob("/proc/" + pid + "/ns/*")
	found := map[string]bool{}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			found[to] = true
		}
	}
	return found
}

// checkNothingLeft compares the machine with what it was before the cluster.
func checkNothingLeft(t *testing.T, dir string, before map[string]string, inside map[string]bool) {
	t.Helper()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", dir, err)
	}
	for pid, line := range processes(t) {
		if strings.Contains(line, dir) {
			t.Errorf("process %s is left: %s", pid, line)
		}
		for namespace := range namespaces(pid) {
			if inside[namespace] {
				t.Errorf("process %s is in %s, which was the cluster's: %s", pid, namespace, line)
			}
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) {
			t.Errorf("a mount is left: %s", line)
		}
	}
	links, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if slices.Contains([]string{"nodes", "pods", "node1", "node2", "node3"}, link.Name) {
			t.Errorf("the interface %s is left", link.Name)
		}
	}
	after := lookAtMachine(t)
	for place, what := range after {
		if was, ok := before[place]; !ok || was != what {
			t.Errorf("%s is %s, and was %q", place, what, was)
		}
	}
}
