package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
)

// members is how many pods the Job has, as testdata/pod knows.
const members = 6

var cache = flag.String("cache", defaultCache(), "where the programs of Kubernetes are kept")

// TestCluster begins with nothing and ends with nothing: a cluster of three nodes, a Job whose
// pods reach each other and the API server, a pod that is deleted and a node that is
// stopped under it, and a machine that is as it was. The first run builds Kubernetes.
func TestCluster(t *testing.T) {
	if err := checkMachine(); err != nil {
		t.Fatalf("%v (make test-kubernetes installs what is missing)", err)
	}
	before := lookAtMachine(t)
	tool := filepath.Join(t.TempDir(), "kubernetes")
	command(t, "go", "build", "-trimpath", "-o", tool, ".")
	command(t, tool, "build", "-cache", *cache)
	dir := filepath.Join(t.TempDir(), "cluster")
	down := func() {
		if _, err := os.Stat(dir); err == nil {
			command(t, tool, "down", dir)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			showLogs(t, dir)
		}
		down()
	})

	since := stopwatch(t)
	command(t, tool, "up", "-cache", *cache, dir)
	since("three nodes ready")
	inside := pidNamespacesOf(t, dir, 3)
	c := connect(t, filepath.Join(dir, "kubeconfig"))

	image := filepath.Join(t.TempDir(), "image.tar")
	program := filepath.Join(t.TempDir(), "pod")
	command(t, "go", "build", "-trimpath", "-o", program, "./testdata/pod")
	if err := writeImage(image, podImage, map[string]string{"/pod": program}, "/pod"); err != nil {
		t.Fatal(err)
	}
	command(t, tool, "import", dir, image)

	since = stopwatch(t)
	c.createJob()
	pods := c.waitRunning(func(pods map[string]corev1.Pod) bool { return true })
	if n := len(nodesOf(pods)); n != 3 {
		t.Errorf("the Job's pods are on %d nodes, not on 3", n)
	}
	c.waitReached(pods)
	since("six pods on three nodes reach each other and the API server")

	const said = "is there anybody?"
	if got, want := c.exec(pods["2"], said), "index 2\n"+said; got != want {
		t.Errorf("exec in the pod says %q, not %q", got, want)
	}

	since = stopwatch(t)
	lost := pods["4"]
	c.deletePod(lost.Name)
	pods = c.waitRunning(func(pods map[string]corev1.Pod) bool { return pods["4"].UID != lost.UID })
	since("a pod that was deleted runs again")

	since = stopwatch(t)
	stopped := pods["1"].Spec.NodeName
	command(t, tool, "stop", dir, strings.TrimPrefix(stopped, "node"))
	pods = c.waitRunning(func(pods map[string]corev1.Pod) bool { return !nodesOf(pods)[stopped] })
	since("the pods of a stopped node run elsewhere")
	if c.ready(stopped) {
		t.Errorf("%s is ready, though it was stopped", stopped)
	}
	c.waitReached(pods)

	since = stopwatch(t)
	c.finish()
	c.waitComplete()
	since("the Job is complete")

	since = stopwatch(t)
	command(t, tool, "start", dir, strings.TrimPrefix(stopped, "node"))
	c.until("the node is ready again", func() (bool, string) { return c.ready(stopped), stopped + " is not ready" })
	since("the stopped node is ready again")

	since = stopwatch(t)
	down()
	since("all is removed")
	checkNothingLeft(t, dir, before, inside)
}

// stopwatch returns what logs the time since.
func stopwatch(t *testing.T) func(what string) {
	begun := time.Now()
	return func(what string) { t.Logf("%6.1f s: %s", time.Since(begun).Seconds(), what) }
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	begun := time.Now()
	output, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
	t.Logf("%6.1f s: %s %s\n%s", time.Since(begun).Seconds(), filepath.Base(name), strings.Join(args, " "), output)
}

func showLogs(t *testing.T, dir string) {
	logs, _ := filepath.Glob(filepath.Join(dir, "log/*.log"))
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			t.Log(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		t.Logf("the end of %s:\n%s", filepath.Base(log), strings.Join(lines[max(0, len(lines)-15):], "\n"))
	}
}

const (
	podImage  = "lockbench/test-pod:kubernetes"
	namespace = "default"
)

// client does to a cluster what its users do.
type client struct {
	kubernetes.Interface
	config *rest.Config
	t      *testing.T
}

func connect(t *testing.T, kubeconfig string) *client {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &client{set, config, t}
}

// until asks again and again, for two minutes at most.
func (c *client) until(what string, done func() (bool, string)) {
	c.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		ok, now := done()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("after two minutes still not: %s; now: %s", what, now)
		}
	}
}

// createJob lets the pods see the cluster, and starts them.
func (c *client) createJob() {
	c.t.Helper()
	ctx := c.t.Context()
	role := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "pods-see"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "default", Namespace: namespace}},
	}
	if _, err := c.RbacV1().RoleBindings(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
	indexed, count, again := batchv1.IndexedCompletion, int32(members), int32(20)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "shards"},
		Spec: batchv1.JobSpec{
			CompletionMode: &indexed, Completions: &count, Parallelism: &count, BackoffLimit: &again,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "shard", Image: podImage}},
			}},
		},
	}
	if _, err := c.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// waitRunning waits until every index has a running pod that is not being deleted, and they fit.
func (c *client) waitRunning(fit func(byIndex map[string]corev1.Pod) bool) map[string]corev1.Pod {
	c.t.Helper()
	var running map[string]corev1.Pod
	c.until("all pods of the Job run", func() (bool, string) {
		list, err := c.CoreV1().Pods(namespace).List(c.t.Context(), metav1.ListOptions{LabelSelector: "job-name=shards"})
		if err != nil {
			return false, err.Error()
		}
		running = map[string]corev1.Pod{}
		var now []string
		for _, pod := range list.Items {
			now = append(now, fmt.Sprintf("%s on %s %s", pod.Name, pod.Spec.NodeName, pod.Status.Phase))
			if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
				running[pod.Labels[batchv1.JobCompletionIndexAnnotation]] = pod
			}
		}
		return len(running) == members && fit(running), strings.Join(now, ", ")
	})
	return running
}

func nodesOf(pods map[string]corev1.Pod) map[string]bool {
	nodes := map[string]bool{}
	for _, pod := range pods {
		nodes[pod.Spec.NodeName] = true
	}
	return nodes
}

// waitReached waits until each pod says that it reached the others, on as many nodes as there are.
func (c *client) waitReached(pods map[string]corev1.Pod) {
	c.t.Helper()
	want := fmt.Sprintf("reached %d pods on", members)
	for index, pod := range pods {
		c.until("pod "+index+" says: "+want, func() (bool, string) {
			text, err := c.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(c.t.Context())
			return bytes.Contains(text, []byte(want)), fmt.Sprint(string(text), err)
		})
	}
}

// exec runs the pod's echo, as kubectl exec -i does, and returns what it says.
func (c *client) exec(pod corev1.Pod, input string) string {
	c.t.Helper()
	request := c.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: []string{"/pod", "echo"}, Stdin: true, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(c.config, "GET", request.URL().String())
	if err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &errs}); err != nil {
		c.t.Fatalf("exec: %v: %s", err, errs.String())
	}
	return out.String()
}

func (c *client) deletePod(name string) {
	c.t.Helper()
	at := int64(0)
	if err := c.CoreV1().Pods(namespace).Delete(c.t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &at}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) ready(node string) bool {
	c.t.Helper()
	found, err := c.CoreV1().Nodes().Get(c.t.Context(), node, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, condition := range found.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// finish tells the pods to end.
func (c *client) finish() {
	c.t.Helper()
	finish := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "finish"}}
	if _, err := c.CoreV1().ConfigMaps(namespace).Create(c.t.Context(), finish, metav1.CreateOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) waitComplete() {
	c.t.Helper()
	c.until("the Job is complete", func() (bool, string) {
		job, err := c.BatchV1().Jobs(namespace).Get(c.t.Context(), "shards", metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return job.Status.Succeeded == members && job.Status.CompletedIndexes == "0-5", fmt.Sprintf("%+v", job.Status)
	})
}
