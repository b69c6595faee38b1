package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/internal/kubernetes"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/shell"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// onKubernetes is the value of --on.
const onKubernetes = "kubernetes"

// placeFlags say which cluster is meant.
type placeFlags struct {
	on string
	kubernetes.Place
}

func (p *placeFlags) add(f *pflag.FlagSet, what string) {
	f.StringVar(&p.on, "on", "", what)
	f.StringVar(&p.Kubeconfig, "kubeconfig", "", "the file that says where the cluster is (default: $KUBECONFIG, or ~/.kube/config)")
	f.StringVar(&p.Context, "context", "", "the context of that file (default: its current one)")
	f.StringVar(&p.Namespace, "namespace", "", "the namespace in the cluster (default: the context's)")
}

// flags are those that say which cluster was meant, for a line that goes on with a job in that namespace.
func (p *placeFlags) flags(namespace string) (args []string) {
	for _, f := range []struct{ flag, value string }{{"kubeconfig", p.Kubeconfig}, {"context", p.Context}, {"namespace", namespace}} {
		if f.value != "" {
			args = append(args, "--"+f.flag, f.value)
		}
	}
	return args
}

// asked reports whether a cluster is meant. Flags that only a cluster knows are refused otherwise.
func (p *placeFlags) asked(cmd *cobra.Command, theirs ...string) (bool, error) {
	switch p.on {
	case onKubernetes:
		return true, nil
	case "":
	default:
		return false, usage("--on %s: only %s, or leave it out for this machine", p.on, onKubernetes)
	}
	for _, flag := range append([]string{"kubeconfig", "context", "namespace"}, theirs...) {
		if cmd.Flags().Changed(flag) {
			return false, usage("--%s goes with --on %s", flag, onKubernetes)
		}
	}
	return false, nil
}

// clusterFlags say how a cluster does a matrix.
type clusterFlags struct {
	placeFlags
	shards                   int
	image, rights, resources string
	deadline                 time.Duration
	dryRun                   bool
	follow                   string
}

// ofCluster are the flags of matrix that only a cluster knows, beside those of its place.
var ofCluster = []string{"shards", "pod-image", "pod-rights", "pod-resources", "deadline", "dry-run", "follow"}

func (k *clusterFlags) add(f *pflag.FlagSet) {
	k.placeFlags.add(f, "where the runs are done: "+onKubernetes+", in shards, as one job (default: this machine); see lockbench help "+onKubernetes)
	f.IntVar(&k.shards, "shards", 3, "with --on: in how many parts, each a pod")
	f.StringVar(&k.image, "pod-image", kubernetes.Image, "with --on: the image of the pods, in which this lockbench is")
	f.StringVar(&k.rights, "pod-rights", string(kubernetes.Rootless), "with --on: "+string(kubernetes.Rootless)+", or "+string(kubernetes.Capabilities)+" where nodes allow no user namespaces")
	f.StringVar(&k.resources, "pod-resources", "cpu=2,memory=4Gi", "with --on: what each pod asks for")
	f.DurationVar(&k.deadline, "deadline", 0, "with --on: when the cluster ends what is left (default: an hour more than the runs can take)")
	f.BoolVar(&k.dryRun, "dry-run", false, "with --on: only print the manifest of the job")
	f.StringVar(&k.follow, "follow", "", "with --on: follow the job of this name, and collect what comes of it")
}

// notInPods are flags of matrix that make no sense for a cluster, and why.
var notInPods = map[string]string{
	"shard":         "--shards says how many parts there are",
	"resume":        "a machine of yours can go on with what was interrupted there",
	"exec":          "pods have what is in their image, and no program of this machine",
	"server-binary": "pods have what is in their image, and no program of this machine",
	"image":         "the servers are those of the pods' image, which --pod-image names",
	"lab":           "pods have the local lab",
	"addrs":         "pods have the local lab, and servers of their own",
	"yes":           "pods have servers of their own",
}

// notOfPlan are flags of matrix that pods need not know.
var notOfPlan = append([]string{"on", "kubeconfig", "context", "namespace", "out", "json", "junit", "csv", "summary", "seed", "jobs"}, ofCluster...)

// fitForPods refuses flags that were given and make no sense for a cluster.
func fitForPods(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(given *pflag.Flag) {
		if why := notInPods[given.Name]; why != "" && err == nil {
			err = usage("--on %s with --%s: %s", onKubernetes, given.Name, why)
		}
	})
	return err
}

// matrixOnCluster has a cluster do the matrix, or only prints how it would.
func (prog program) matrixOnCluster(cmd *cobra.Command, f *matrixFlags, k *clusterFlags) error {
	if err := fitForPods(cmd.Flags()); err != nil {
		return err
	}
	for _, flag := range []string{"json", "junit", "csv", "summary"} {
		if k.dryRun && cmd.Flags().Changed(flag) {
			return usage("--dry-run only prints the manifest: give --%s to whoever follows the job", flag)
		}
	}
	prog.Catalog = prog.Elsewhere()
	if k.follow != "" {
		return prog.followMatrix(cmd, f, k)
	}
	m, err := prog.matrix(cmd.Context(), f, "matrix")
	if err != nil {
		return err
	}
	work, err := k.work(cmd, f, m)
	if err != nil {
		return err
	}
	manifest, err := work.Manifest()
	if err != nil {
		return err
	}
	if k.dryRun {
		_, err := fmt.Fprint(cmd.OutOrStdout(), manifest)
		return err
	}
	if err := f.canCollect(); err != nil {
		return err
	}
	cluster, err := connect(cmd, k.Place)
	if err != nil {
		return err
	}
	job, err := kubernetes.Decode(manifest)
	if err != nil {
		return err
	}
	kubernetes.Owned(job)
	made := collecting{cluster: cluster, at: &k.placeFlags, job: job, ours: true}
	if err := cluster.Create(cmd.Context(), job); err != nil {
		err = fmt.Errorf("create job %s in namespace %s: %w", job.Name, cluster.Namespace, err)
		if cmd.Context().Err() != nil { // it may be there all the same
			err = errors.Join(err, made.removed(cmd))
		}
		return exit{exitCantRun, err}
	}
	return prog.collect(cmd, f, m, made)
}

func connect(cmd *cobra.Command, at kubernetes.Place) (*kubernetes.Cluster, error) {
	cluster, err := kubernetes.Connect(at, cmd.ErrOrStderr())
	if err != nil {
		return nil, usage("%w", err)
	}
	return cluster, nil
}

// work is the matrix as a cluster does it.
func (k *clusterFlags) work(cmd *cobra.Command, f *matrixFlags, m *run.Matrix) (w kubernetes.Work, err error) {
	const most = 1000
	if k.shards < 1 || k.shards > most {
		return w, usage("--shards %d: from 1 to %d", k.shards, most)
	}
	if k.deadline < 0 || cmd.Flags().Changed("deadline") && k.deadline < time.Minute {
		return w, usage("--deadline %v: at least 1m", k.deadline)
	}
	rights := kubernetes.Rights(k.rights)
	if rights != kubernetes.Rootless && rights != kubernetes.Capabilities {
		return w, usage("--pod-rights %s: %s or %s", k.rights, kubernetes.Rootless, kubernetes.Capabilities)
	}
	resources, err := kubernetes.ParseResources(k.resources)
	if err != nil {
		return w, usage("--pod-resources: %w", err)
	}
	if !cmd.Flags().Changed("jobs") {
		m.Jobs = atOnceOn(resources.CPUs())
	}
	args := []string{shardVerb, fmt.Sprintf("--of=%d", k.shards), "--planned=" + m.Digest(), fmt.Sprintf("--seed=%d", f.Seed), fmt.Sprintf("--jobs=%d", m.Jobs)}
	cmd.Flags().Visit(func(given *pflag.Flag) {
		if slices.Contains(notOfPlan, given.Name) {
			return
		}
		values := []string{given.Value.String()}
		if list, ok := given.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			args = append(args, "--"+given.Name+"="+v)
		}
	})
	w = kubernetes.Work{Name: newJob(), What: "matrix", Namespace: k.Namespace, Version: thisVersion(), Image: k.image, Shards: k.shards, Args: args,
		Resources: resources, Rights: rights, Deadline: k.deadline, Title: fmt.Sprintf("A matrix of lockbench: %s, in %s, seed %d.", sizeText(m), english.Count(k.shards, "shard"), f.Seed)}
	if w.Deadline == 0 {
		w.Deadline = bound(m, k.shards)
	}
	follow := []string{"lockbench", "matrix", "--on", onKubernetes, "--follow", w.Name, "--out", "DIR"}
	if k.Namespace != "" {
		follow = append(follow, "--namespace", k.Namespace)
	}
	w.Follow = shell.Line(follow...)
	return w, nil
}

// newJob is a name for a job that no other has.
func newJob() string {
	return strings.ToLower("lockbench-" + time.Now().UTC().Format("20060102-150405") + "-" + rand.Text()[:5])
}

// bound is when a matrix must be over, even if one node does all shards one after the other, and
// collected: as long as its runs can take, and an hour.
func bound(m *run.Matrix, shards int) time.Duration {
	const (
		aRun      = 45 * time.Second // with servers that start slowly
		leases    = 12               // that a run waits for, where everything comes late: a fault, the way back, what is left to end
		toCollect = time.Hour
		open      = 24 * time.Hour // nobody knows how many runs there will be
	)
	var runs time.Duration
	for _, a := range m.Algorithms {
		for _, f := range m.Faults {
			plan := m.For(a, f, 0)
			runs += time.Duration(m.Runs) * (aRun + plan.Duration + leases*plan.TTL)
		}
	}
	d := runs/time.Duration(m.Jobs) + time.Duration(shards)*m.Budget + toCollect
	if m.Until > 0 && m.Budget == 0 {
		d += open
	}
	return d.Round(time.Minute)
}

// followMatrix collects what comes of a job that somebody has applied.
func (prog program) followMatrix(cmd *cobra.Command, f *matrixFlags, k *clusterFlags) (err error) {
	cmd.Flags().Visit(func(given *pflag.Flag) {
		if !slices.Contains([]string{"on", "kubeconfig", "context", "namespace", "follow", "out", "json", "junit", "csv", "summary"}, given.Name) {
			err = usage("--follow goes by the plan that the job has: leave out --%s", given.Name)
		}
	})
	if err != nil {
		return err
	}
	cluster, err := connect(cmd, k.Place)
	if err != nil {
		return err
	}
	_, name, kind := strings.Cut(k.follow, "/") // as kubectl names it: job.batch/NAME
	if !kind {
		name = k.follow
	}
	job, err := cluster.Job(cmd.Context(), name)
	if err != nil {
		return exit{exitCantRun, fmt.Errorf("find the job in namespace %s: %w", cluster.Namespace, err)}
	}
	args, err := kubernetes.Args(job)
	if err == nil && (len(args) == 0 || args[0] != shardVerb) {
		err = fmt.Errorf("job %s is no matrix", name)
	}
	if err != nil {
		return usage("--follow: %w", err)
	}
	planned := matrixFlags{planFlags: planFlags{out: f.out}}
	var p podFlags
	var scratch cobra.Command
	planned.add(&scratch, prog.Catalog)
	p.add(&scratch)
	if err := scratch.ParseFlags(append(args[1:], "--out="+f.out)); err != nil {
		return usage("job %s is of another lockbench than this one: %w", name, err)
	}
	if err := fitForPods(scratch.Flags()); err != nil { // whoever made the job has no say in what is begun here
		return err
	}
	planned.ci, planned.json = f.ci, f.json
	m, err := prog.matrix(cmd.Context(), &planned, "matrix")
	if err != nil {
		return err
	}
	if m.Digest() != p.planned {
		return usage("job %s is of another lockbench than this one (%s), which would plan other runs: follow it with the one that made it", name, thisVersion())
	}
	if err := planned.canCollect(); err != nil {
		return err
	}
	return prog.collect(cmd, &planned, m, collecting{cluster: cluster, at: &k.placeFlags, job: job})
}
