//go:build kubernetes

package cli

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// shardsImage has this test's binary as lockbench, and no more: its servers are the built-in ones.
const shardsImage = "lockbench/shards:test"

// aCluster is a real Kubernetes of three nodes on this machine, seen as its API.
type aCluster struct {
	t         *testing.T
	tool, dir string
	http      *http.Client // of somebody who may do everything
	url       string
	allowed   string // the kubeconfig of the commands
}

func startCluster(t *testing.T) *aCluster {
	t.Helper()
	c := &aCluster{t: t, tool: filepath.Join(t.TempDir(), "kubernetes"), dir: filepath.Join(t.TempDir(), "cluster")}
	build := exec.Command("go", "build", "-trimpath", "-o", c.tool, ".")
	build.Dir = "../docker/kubernetes"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		if _, err := os.Stat(c.dir); err == nil {
			c.do("down", c.dir)
		}
	})
	c.do("up", c.dir)
	image := filepath.Join(t.TempDir(), "image.tar")
	writeImage(t, image)
	c.do("import", c.dir, image)
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if c.http, err = rest.HTTPClientFor(config); err != nil {
		t.Fatal(err)
	}
	c.url = config.Host
	c.allow(config)
	return c
}

func (c *aCluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// allow makes the namespace, and the kubeconfig of somebody who may there what the manual says, and
// no more.
func (c *aCluster) allow(config *rest.Config) {
	c.t.Helper()
	const json = "application/json"
	c.ask(http.MethodPost, "/api/v1/namespaces", json, `{"metadata":{"name":"locks"}}`, nil)
	c.ask(http.MethodPost, "/api/v1/namespaces/locks/serviceaccounts", json, `{"metadata":{"name":"someone"}}`, nil)
	c.ask(http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/locks/roles", "application/yaml", roleInManual(c.t), nil)
	c.ask(http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/namespaces/locks/rolebindings", json, `{"metadata":{"name":"someone"},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"lockbench"},"subjects":[{"kind":"ServiceAccount","name":"someone","namespace":"locks"}]}`, nil)
	var token struct {
		Status struct{ Token string }
	}
	c.ask(http.MethodPost, "/api/v1/namespaces/locks/serviceaccounts/someone/token", json, `{"spec":{"expirationSeconds":7200}}`, &token)
	their := api.NewConfig()
	their.Clusters["it"] = &api.Cluster{Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData}
	their.AuthInfos["someone"] = &api.AuthInfo{Token: token.Status.Token}
	their.Contexts["it"] = &api.Context{Cluster: "it", AuthInfo: "someone", Namespace: "locks"}
	their.CurrentContext = "it"
	c.allowed = filepath.Join(c.t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*their, c.allowed); err != nil {
		c.t.Fatal(err)
	}
}

// do has the program do something with the cluster.
func (c *aCluster) do(args ...string) {
	c.t.Helper()
	if out, err := exec.Command(c.tool, args...).CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// ask asks the cluster's API, and reads the answer into what is given.
func (c *aCluster) ask(method, path, kind string, body string, into any) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = errors.New(resp.Status)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		c.t.Fatalf("%s %s: %v\n%s", method, path, err, text)
	}
}

const (
	allPods = "/api/v1/namespaces/locks/pods"
	allJobs = "/apis/batch/v1/namespaces/locks/jobs"
)

func (c *aCluster) pods() []core.Pod {
	c.t.Helper()
	var list core.PodList
	c.ask(http.MethodGet, allPods, "", "", &list)
	return list.Items
}

func (c *aCluster) jobs() []batch.Job {
	c.t.Helper()
	var list batch.JobList
	c.ask(http.MethodGet, allJobs, "", "", &list)
	return list.Items
}

// empty wants nothing to be left, soon.
func (c *aCluster) empty() {
	c.t.Helper()
	testkit.Eventually(c.t, time.Minute, func() error {
		if jobs, pods := c.jobs(), c.pods(); len(jobs)+len(pods) > 0 {
			return fmt.Errorf("%d jobs and %d pods are left", len(jobs), len(pods))
		}
		return nil
	})
}

// running waits until so many pods run, and returns them.
func (c *aCluster) running(n int) (running []core.Pod) {
	c.t.Helper()
	testkit.Eventually(c.t, 2*time.Minute, func() error {
		running = slices.DeleteFunc(c.pods(), func(p core.Pod) bool { return p.Status.Phase != core.PodRunning })
		if len(running) < n {
			return fmt.Errorf("%d pods run, and not %d", len(running), n)
		}
		return nil
	})
	return running
}

// command is lockbench with this cluster.
func (c *aCluster) command(dir string, args ...string) *exec.Cmd {
	cmd := testkit.Command(c.t, dir, args...)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+c.allowed)
	return cmd
}

// writeImage writes an image as docker save does: this binary, and the directories that a lab
// mounts something on.
func writeImage(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	add := func(w *tar.Writer, h tar.Header, data []byte) error {
		h.Size = int64(len(data))
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err := w.Write(data)
		return err
	}
	var layer, image bytes.Buffer
	w := tar.NewWriter(&layer)
	err = add(w, tar.Header{Name: "usr/local/bin/lockbench", Mode: 0o755}, program)
	for _, dir := range []string{"run", "tmp", "work"} {
		err = errors.Join(err, add(w, tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil))
	}
	err = errors.Join(err, w.Close())
	config, err2 := json.Marshal(map[string]any{"architecture": "amd64", "os": "linux",
		"config": map[string]any{"Env": []string{"PATH=/usr/local/bin", "HOME=/tmp"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))}}})
	manifest, err3 := json.Marshal([]any{map[string]any{"Config": "config.json", "RepoTags": []string{shardsImage}, "Layers": []string{"layer.tar"}}})
	w = tar.NewWriter(&image)
	err = errors.Join(err, err2, err3, add(w, tar.Header{Name: "manifest.json", Mode: 0o644}, manifest),
		add(w, tar.Header{Name: "config.json", Mode: 0o644}, config), add(w, tar.Header{Name: "layer.tar", Mode: 0o644}, layer.Bytes()), w.Close())
	if err = errors.Join(err, os.WriteFile(path, image.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// onCluster is a matrix of what needs no servers but the built-in ones.
func onCluster(args ...string) []string {
	return append([]string{"matrix", "--algorithms", "none,etcd-lease,etcd-mutex", "--faults", "none,pause-holder,kill-holder", "--runs", "4",
		"--seed", "4711", "--jobs", "2"}, args...)
}

func asShards(args ...string) []string {
	return append([]string{"--on", "kubernetes", "--pod-image", shardsImage, "--pod-resources", "cpu=500m,memory=1Gi"}, args...)
}

// TestOnKubernetes has a matrix done by a real cluster, in which pods die, nodes stop and commands
// are killed.
func TestOnKubernetes(t *testing.T) {
	c := startCluster(t)
	dir := t.TempDir()
	code, whole, stderr := testkit.Ran(t, testkit.Command(t, dir, onCluster("--out", "whole", "--json")...))
	if code != exitKept {
		t.Fatalf("on this machine: exit code %d\n%s", code, stderr)
	}
	want := decided(t, whole)
	t.Run("a pod dies, and a node", func(t *testing.T) {
		cmd := c.command(dir, onCluster(asShards("--shards", "6", "--out", "six", "--json")...)...)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pods := c.running(6)
		nodes := map[string]int{}
		for _, p := range pods {
			nodes[p.Spec.NodeName]++
		}
		if len(nodes) != 3 {
			t.Errorf("six pods on %v", nodes)
		}
		dies := slices.IndexFunc(pods, func(p core.Pod) bool { return p.Spec.NodeName != "node3" })
		c.ask(http.MethodDelete, allPods+"/"+pods[dies].Name, "", "", nil)
		c.do("stop", c.dir, "3")
		err := cmd.Wait()
		c.do("start", c.dir, "3")
		t.Logf("%s", said.String())
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
		if got := decided(t, out.String()); !slices.Equal(got, want) {
			t.Errorf("in six shards\n%s\non this machine\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, what := range []string{"the pod was deleted", "its node does not answer", "shards run on 3 nodes: those that share one disturb", "shard 6/6 is here"} {
			if !strings.Contains(said.String(), what) {
				t.Errorf("nobody said %q", what)
			}
		}
		samePlans(t, dir, "six", "whole")
		c.empty()
	})
	t.Run("applied, and followed", func(t *testing.T) {
		code, manifest, stderr := testkit.Ran(t, c.command(dir, onCluster(asShards("--shards", "3", "--dry-run")...)...))
		if code != exitKept {
			t.Fatalf("exit code %d\n%s", code, stderr)
		}
		var job batch.Job
		c.ask(http.MethodPost, allJobs, "application/yaml", manifest, &job)
		if code, stdout, stderr := testkit.Ran(t, c.command(dir, "clean", "--on", "kubernetes")); code != exitKept || stdout != "nothing to clean\n" || !strings.Contains(stderr, "applied by hand") {
			t.Errorf("clean: exit code %d\n%s%s", code, stdout, stderr)
		}
		c.running(3)
		follow := []string{"matrix", "--on", "kubernetes", "--follow", "job.batch/" + job.Name, "--out", "followed", "--json"}
		cmd := c.command(dir, follow...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, time.Minute, func() error { return kindIs(filepath.Join(dir, "followed"), rundir.IsMatrix) })
		interrupted(t, cmd)
		if len(c.jobs()) != 1 {
			t.Fatal("whoever follows was interrupted, and the job is gone")
		}
		code, stdout, stderr := testkit.Ran(t, c.command(dir, follow...))
		if got := decided(t, stdout); code != exitKept || !slices.Equal(got, want) {
			t.Errorf("exit code %d\n%s\nfollowed\n%s\non this machine\n%s", code, stderr, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		samePlans(t, dir, "followed", "whole")
		c.empty()
	})
	t.Run("the command is killed", func(t *testing.T) {
		cmd := c.command(dir, onCluster(asShards("--shards", "3", "--out", "killed")...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c.running(3)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		jobs := c.jobs()
		if len(jobs) != 1 {
			t.Fatalf("%d jobs", len(jobs))
		}
		// What it left is followed by somebody, who ends it.
		code, stdout, stderr := testkit.Ran(t, c.command(dir, "matrix", "--on", "kubernetes", "--follow", jobs[0].Name, "--out", "killed", "--json"))
		if got := decided(t, stdout); code != exitKept || !slices.Equal(got, want) {
			t.Errorf("exit code %d\n%s\n%s", code, stderr, strings.Join(got, "\n"))
		}
		c.empty()
	})
	t.Run("nobody comes back", func(t *testing.T) {
		cmd := c.command(dir, onCluster(asShards("--out", "left", "--shards", "2")...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c.running(2)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code, stdout, stderr := testkit.Ran(t, c.command(dir, "clean", "--on", "kubernetes")); code != exitKept || stdout != "nothing to clean\n" || !strings.Contains(stderr, "it was followed") {
			t.Errorf("at once: exit code %d\n%s%s", code, stdout, stderr)
		}
		name := c.jobs()[0].Name
		c.ask(http.MethodPatch, allJobs+"/"+name, "application/merge-patch+json", `{"metadata":{"annotations":{"lockbench.org/followed":"2020-01-01T00:00:00Z"}}}`, nil)
		if code, stdout, stderr := testkit.Ran(t, c.command(dir, "clean", "--on", "kubernetes")); code != exitKept || stdout != "removed job "+name+"\n" {
			t.Errorf("much later: exit code %d\n%s%s", code, stdout, stderr)
		}
		c.empty()
	})
	t.Run("interrupted", func(t *testing.T) {
		cmd := c.command(dir, onCluster(asShards("--out", "interrupted", "--shards", "2")...)...)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		c.running(2)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(said.String(), "the job is removed") {
			t.Errorf("exit code %d\n%s", code, said.String())
		}
		c.empty()
	})
	t.Run("too late", func(t *testing.T) {
		code, stdout, stderr := testkit.Ran(t, c.command(dir, onCluster(asShards("--out", "late", "--shards", "2", "--runs", "40", "--deadline", "1m", "--json")...)...))
		if code != exitUndecided || !strings.Contains(stderr, "run failed: shard 1/2, of which is missing: none × none (runs 1, 3, 5,") || !strings.Contains(stderr, "the job's deadline (1m0s) passed") {
			t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
		}
		c.empty()
	})
	t.Run("with capabilities", func(t *testing.T) {
		code, stdout, stderr := testkit.Ran(t, c.command(dir, "matrix", "--algorithms", "none,etcd-lease", "--faults", "none,kill-holder", "--seed", "1", "--on", "kubernetes", "--pod-image", shardsImage,
			"--pod-resources", "cpu=500m,memory=1Gi", "--shards", "2", "--pod-rights", "capabilities", "--out", "capable", "--json"))
		if got := decided(t, stdout); code != exitKept || len(got) != 4 {
			t.Errorf("exit code %d\n%s\n%s", code, stderr, strings.Join(got, "\n"))
		}
		c.empty()
	})
	t.Run("refused by the pods", func(t *testing.T) {
		code, stdout, stderr := testkit.Ran(t, c.command(dir, onCluster(asShards("--shards", "2", "--server-option", "nonsense")...)...))
		if code != exitCantRun || stdout != "" || !strings.Contains(stderr, `the pods refuse the work: exit code 64: lockbench: server option "nonsense" is not NAME=VALUE`) {
			t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
		}
		c.empty()
	})
	t.Run("another image", func(t *testing.T) {
		// The same program, to which another plan was given.
		code, manifest, _ := testkit.Ran(t, c.command(dir, onCluster(asShards("--shards", "2", "--dry-run")...)...))
		if code != exitKept {
			t.Fatal(code)
		}
		var job batch.Job
		at := strings.Index(manifest, "--planned=") + len("--planned=")
		c.ask(http.MethodPost, allJobs, "application/yaml", manifest[:at]+"0123"+manifest[at+4:], &job)
		code, _, stderr := testkit.Ran(t, c.command(dir, "matrix", "--on", "kubernetes", "--follow", job.Name, "--out", "other"))
		if code != exitUsage || !strings.Contains(stderr, "is of another lockbench than this one") {
			t.Errorf("exit code %d\n%s", code, stderr)
		}
		testkit.Eventually(t, time.Minute, func() error {
			for _, p := range c.pods() {
				for _, s := range p.Status.ContainerStatuses {
					if e := s.State.Terminated; e != nil && e.ExitCode == exitUsage && strings.Contains(e.Message, "plans other runs") {
						return nil
					}
				}
			}
			return errors.New("no pod has refused")
		})
		c.ask(http.MethodDelete, allJobs+"/"+job.Name+"?propagationPolicy=Background", "", "", nil)
		c.empty()
	})
}

func kindIs(dir string, want rundir.What) error {
	if kind, err := rundir.Kind(dir); err != nil || kind != want {
		return fmt.Errorf("%s is %q: %w", dir, kind, err)
	}
	return nil
}

// decided is what of the cells locks, faults and seeds decide, and not the moment.
func decided(t *testing.T, printed string) (says []string) {
	t.Helper()
	var file rundir.MatrixFile
	if err := json.Unmarshal([]byte(printed), &file); err != nil {
		t.Errorf("%q: %v", printed, err)
	}
	for _, c := range file.Cells {
		says = append(says, fmt.Sprintf("%s × %s: %s, promise %s, %d runs", c.Algorithm, c.Fault, c.Outcome, c.Promise, c.Runs))
	}
	return says
}

// samePlans wants the same runs of the same plans in two directories.
func samePlans(t *testing.T, in, a, b string) {
	t.Helper()
	got, want := plansOf(t, filepath.Join(in, a)), plansOf(t, filepath.Join(in, b))
	if len(got) != len(want) {
		t.Errorf("%d runs in %s, %d in %s", len(got), a, len(want), b)
	}
	for run, plan := range want {
		one := got[run]
		one.About, plan.About = nil, nil // by which name the program was called
		if fixed(one) != fixed(plan) {
			t.Fatalf("%s was planned as\n%s\nin %s, and in %s as\n%s", run, fixed(plan), b, a, fixed(one))
		}
	}
	if kept, _ := os.ReadDir(filepath.Join(in, a, "incoming")); kept != nil {
		t.Errorf("%s has %v", a, kept)
	}
}
