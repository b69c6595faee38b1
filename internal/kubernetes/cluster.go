package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	failure "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
)

// Place says where the cluster is, as people say it to kubectl. What is empty is as there.
type Place struct{ Kubeconfig, Context, Namespace string }

// Cluster is one namespace of a cluster. Of its interface it has what shards need: the whole
// clientset would make the program a third larger.
type Cluster struct {
	Namespace string

	config *rest.Config
	core   rest.Interface
	batch  rest.Interface
}

// Connect finds the cluster, and asks nothing of it yet. What the cluster warns of goes to
// warnings; what the client library has to say beside its errors is left out.
func Connect(at Place, warnings io.Writer) (*Cluster, error) {
	klog.SetLogger(klog.Logger{}) // which writes nothing
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = at.Kubeconfig
	over := &clientcmd.ConfigOverrides{CurrentContext: at.Context}
	over.Context.Namespace = at.Namespace
	from := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, over)
	config, err := from.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("no cluster is known: name its file with --kubeconfig or $KUBECONFIG, or have one at %s", clientcmd.RecommendedHomeFile)
	} else if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	c := &Cluster{config: config}
	if c.Namespace, _, err = from.Namespace(); err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.UserAgent = "lockbench"
	config.QPS, config.Burst = 50, 100 // a log of each pod, and no more than that
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{Deduplicate: true})
	if c.core, err = client(config, "/api", core.SchemeGroupVersion); err != nil {
		return nil, err
	}
	c.batch, err = client(config, "/apis", batch.SchemeGroupVersion)
	return c, err
}

// client speaks of one group of things.
func client(config *rest.Config, path string, of schema.GroupVersion) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(core.AddToScheme(scheme), batch.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = path, &of
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(config)
}

// Create makes the job.
func (c *Cluster) Create(ctx context.Context, job *batch.Job) error {
	return c.batch.Post().Namespace(c.Namespace).Resource("jobs").Body(job).Do(ctx).Error()
}

// Job is the job of that name as it is now.
func (c *Cluster) Job(ctx context.Context, name string) (*batch.Job, error) {
	job := &batch.Job{}
	return job, c.batch.Get().Namespace(c.Namespace).Resource("jobs").Name(name).Do(ctx).Into(job)
}

// jobs are all of ours.
func (c *Cluster) jobs(ctx context.Context) ([]batch.Job, error) {
	var list batch.JobList
	err := c.batch.Get().Namespace(c.Namespace).Resource("jobs").Param("labelSelector", ours).Do(ctx).Into(&list)
	return list.Items, err
}

// pods are those of the job, also those that have ended.
func (c *Cluster) pods(ctx context.Context, job string) ([]core.Pod, error) {
	var list core.PodList
	err := c.core.Get().Namespace(c.Namespace).Resource("pods").Param("labelSelector", batch.JobNameLabel+"="+job).Do(ctx).Into(&list)
	return list.Items, err
}

// remove removes the job, and has its pods removed.
func (c *Cluster) remove(ctx context.Context, job string) error {
	behind := meta.DeletePropagationBackground
	return c.batch.Delete().Namespace(c.Namespace).Resource("jobs").Name(job).Body(&meta.DeleteOptions{PropagationPolicy: &behind}).Do(ctx).Error()
}

// annotate sets an annotation of the job's.
func (c *Cluster) annotate(ctx context.Context, job, key, value string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{key: value}}})
	if err != nil {
		return err
	}
	return c.batch.Patch(types.MergePatchType).Namespace(c.Namespace).Resource("jobs").Name(job).Body(patch).Do(ctx).Error()
}

// log is what the pod's program prints, from the beginning and until it ends.
func (c *Cluster) log(ctx context.Context, pod string) (io.ReadCloser, error) {
	return c.core.Get().Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("log").Param("container", container).Param("follow", "true").Stream(ctx)
}

// exec runs this program once more in the pod, and returns its error with what it said.
func (c *Cluster) exec(ctx context.Context, pod string, stdout io.Writer, args ...string) error {
	req := c.core.Post().Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("exec").
		Param("container", container).Param("stdout", "true").Param("stderr", "true").Param("command", program)
	for _, a := range args {
		req = req.Param("command", a)
	}
	// As kubectl does it: web sockets, or what clusters and proxies had before them.
	sockets, err := remotecommand.NewWebSocketExecutor(c.config, "GET", req.URL().String())
	if err != nil {
		return err
	}
	before, err := remotecommand.NewSPDYExecutor(c.config, "POST", req.URL())
	if err != nil {
		return err
	}
	both, err := remotecommand.NewFallbackExecutor(sockets, before, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	var said tail
	err = both.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: stdout, Stderr: &said})
	if answered := new(exec.ExitError); err != nil && !errors.As(err, answered) && !refused(err) {
		err = fmt.Errorf("%w: %w", errCut, err)
	}
	if err != nil && said.String() != "" {
		err = fmt.Errorf("%w: %s", err, said.String())
	}
	return err
}

// refused reports whether the cluster says that what was asked of it can't be.
func refused(err error) bool {
	var said failure.APIStatus
	return errors.As(err, &said) && said.Status().Code/100 == 4
}

// errCut: what was asked of a pod came to no end of which anybody knows.
var errCut = errors.New("the connection to the pod broke")

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

const tailBytes = 1000

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(p), nil
}

func (t *tail) String() string { return oneLine(string(t.text)) }

// patience is how long the cluster may not answer before it is given up.
const patience = 5 * time.Minute
