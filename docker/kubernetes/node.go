package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"text/template"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed config
var configs embed.FS

// containerdSocket is where a node's containerd listens, below its /run.
const containerdSocket = "containerd/containerd.sock"

// prepare makes a node's /run anew, as it is after a start of a machine, and its /var once.
func (c cluster) prepare(number int) error {
	run := filepath.Join(c.node(number), "run")
	own := filepath.Join(run, "cluster")
	if err := os.RemoveAll(run); err != nil {
		return err
	}
	for _, path := range []string{
		filepath.Join(own, "net.d"), filepath.Join(own, "programs"), filepath.Join(run, "lock"),
		filepath.Join(c.node(number), "var/lib"), filepath.Join(c.node(number), "var/log"), filepath.Join(c.node(number), "var/tmp"),
	} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
	}
	if err := os.Symlink("/run", filepath.Join(c.node(number), "var/run")); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	for to, from := range map[string]string{"ca.crt": "ca.crt", "kubelet.kubeconfig": nodeName(number), "proxy.kubeconfig": "kube-proxy"} {
		data, err := os.ReadFile(c.secret(from))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(own, to), data, 0o600); err != nil {
			return err
		}
	}
	values := map[string]string{
		"Pause": "docker.io/" + pauseImage, "Snapshotter": c.Snapshotter,
		"Pods": nodePods(number), "Group": "/" + c.Groups + "/" + nodeName(number),
	}
	for to, from := range map[string]string{"containerd.toml": "containerd.toml", "kubelet.yaml": "kubelet.yaml", "net.d/pods.conflist": "pods.conflist"} {
		if err := fill(filepath.Join(own, to), "config/"+from, values); err != nil {
			return err
		}
	}
	return nil
}

// fill writes a file of config/ with its blanks filled.
func fill(path, name string, values map[string]string) error {
	parsed, err := template.ParseFS(configs, name)
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(parsed.Execute(file, values), file.Close())
}

// runNode is the first process of a node's namespaces: it makes a machine of them.
func runNode(dir string, number int) error {
	c, err := load(dir)
	if err != nil {
		return err
	}
	logs := map[string]*os.File{}
	for _, name := range []string{"containerd", "kubelet", "kube-proxy"} {
		if logs[name], err = c.openLog(nodeName(number) + "-" + name); err != nil {
			return err
		}
	}
	if err := syscall.Sethostname([]byte(nodeName(number))); err != nil {
		return err
	}
	if err := settle(number, c.Nodes); err != nil {
		return err
	}
	if err := c.mount(number); err != nil {
		return err
	}
	const own = "/run/cluster/"
	go keep(logs["containerd"], "containerd", "--config", own+"containerd.toml")
	if err := importPause(c.Snapshotter, own+"programs/"+pauseTar); err != nil {
		return err
	}
	go keep(logs["kubelet"], own+"programs/kubelet", "--config", own+"kubelet.yaml", "--kubeconfig", own+"kubelet.kubeconfig",
		"--hostname-override", nodeName(number), "--node-ip", nodeAddress(number))
	// What it would set for all of the machine it leaves alone.
	go keep(logs["kube-proxy"], own+"programs/kube-proxy", "--kubeconfig", own+"proxy.kubeconfig",
		"--hostname-override", nodeName(number), "--proxy-mode", "iptables", "--cluster-cidr", podRange,
		"--conntrack-max-per-core", "0", "--conntrack-tcp-timeout-established", "0", "--conntrack-tcp-timeout-close-wait", "0")
	select {}
}

// importPause waits for containerd and gives it the image without which no pod begins.
func importPause(snapshotter, file string) error {
	socket := "/run/" + containerdSocket
	for deadline := time.Now().Add(time.Minute); !answers(socket); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("containerd does not answer for a minute: see its log")
		}
	}
	output, err := importer(socket, snapshotter, file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("import %s: %w: %s", file, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// tunables are the settings that a kubelet changes for the whole machine unless it finds
// them so. It is shown files in which they are.
var tunables = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// mount gives the node a /proc, /run and /var of its own; the rest is the machine's.
func (c cluster) mount(number int) error {
	if err := ownMounts(); err != nil {
		return err
	}
	run, err := handle(filepath.Join(c.node(number), "run"))
	if err != nil {
		return err
	}
	vars, err := handle(filepath.Join(c.node(number), "var"))
	if err != nil {
		return err
	}
	// The directory may lie below what is covered next, so it is known by its handles.
	if err := bind(c.Programs, run+"/cluster/programs"); err != nil {
		return err
	}
	for name, value := range tunables {
		file := run + "/cluster/" + strings.ReplaceAll(name, "/", ".")
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := bind(file, "/proc/sys/"+name); err != nil {
			return err
		}
	}
	if err := errors.Join(bind(run, "/run"), bind(vars, "/var")); err != nil {
		return err
	}
	// Pods may want to see mounts that are made later.
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

// ownMounts parts the mounts of a new mount namespace from the machine's, and shows
// the processes of the new PID namespace.
func ownMounts() error {
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("proc", "/proc", "proc", 0, "")
	}
	if err != nil {
		return fmt.Errorf("make mounts of its own: %w", err)
	}
	return nil
}

// handle is a path to a directory that stays valid when something is mounted above it.
func handle(path string) (string, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fmt.Sprintf("/proc/self/fd/%d", fd), nil
}

func bind(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount %s on %s: %w", from, to, err)
	}
	return nil
}
