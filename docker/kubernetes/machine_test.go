package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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
	return found
}

// pidNamespacesOf are those of a cluster that runs: its own, and one for each node. They are kept
// open, so that no other is given their numbers while the test looks for processes in them.
func pidNamespacesOf(t *testing.T, dir string, nodes int) map[string]bool {
	t.Helper()
	own := pidNamespace("self")
	found := map[string]bool{}
	for pid, line := range processes(t) {
		in := pidNamespace(pid)
		if in == "" || in == own || found[in] || !strings.Contains(line, dir) {
			continue
		}
		file, err := os.Open("/proc/" + pid + "/ns/pid")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		found[in] = true
	}
	if len(found) != 1+nodes {
		t.Fatalf("a cluster of %d nodes has %d PID namespaces, and not %d", nodes, 1+nodes, len(found))
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

// pidNamespace is the one of a process, such as pid:[4026531836], and empty if it has ended.
func pidNamespace(pid string) string {
	link, _ := os.Readlink("/proc/" + pid + "/ns/pid")
	return link
}

// leftProcesses are those that are in one of the cluster's PID namespaces, or speak of its directory.
func leftProcesses(t *testing.T, dir string, inside map[string]bool) []string {
	t.Helper()
	var left []string
	for pid, line := range processes(t) {
		if strings.Contains(line, dir) || inside[pidNamespace(pid)] {
			left = append(left, pid+" "+line)
		}
	}
	return left
}

// checkNothingLeft compares the machine with what it was before the cluster.
func checkNothingLeft(t *testing.T, dir string, before map[string]string, inside map[string]bool) {
	t.Helper()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there (%v)", dir, err)
	}
	// The machine's own first process has to collect the cluster's, which may take a moment.
	deadline := time.Now().Add(5 * time.Second)
	left := leftProcesses(t, dir, inside)
	for len(left) > 0 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
		left = leftProcesses(t, dir, inside)
	}
	for _, process := range left {
		t.Errorf("a process is left: %s", process)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, dir) || strings.Contains(line, " nsfs ") && strings.Contains(line, "cni-") {
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
	first, second, err := hierarchies()
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range append(first, second...) {
		if _, err := os.Stat(filepath.Join(root, newCluster(dir, "", 0).Groups)); !os.IsNotExist(err) {
			t.Errorf("control groups are left in %s (%v)", root, err)
		}
	}
	after := lookAtMachine(t)
	for place, what := range after {
		if was, ok := before[place]; !ok || was != what {
			t.Errorf("%s is %s, and was %q", place, what, was)
		}
	}
}
