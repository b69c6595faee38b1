package kubernetes

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	batch "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// Rights are what a pod may do.
type Rights string

// What there is.
const (
	// Rootless pods have no capability, and make user namespaces.
	Rootless Rights = "rootless"
	// Capabilities are for nodes that allow no user namespaces.
	Capabilities Rights = "capabilities"
)

// Image is lockbench's own, as docker/build.sh names it.
const Image = "lockbench/lockbench:debian"

// Work is what is to be done, in shards. Its manifest is all there is of it in the cluster.
type Work struct {
	Name      string
	What      string // what it is, in one word
	Namespace string // "" where whoever applies the manifest decides
	Title     string // for whoever reads the manifest
	Follow    string // the command that collects what comes of it
	Version   string // of this program
	Image     string
	Shards    int
	// Args are those of the program in each pod; see [Index].
	Args      []string
	Resources Resources // that each pod asks for
	Rights    Rights
	// Deadline is when the cluster ends what is left of it.
	Deadline time.Duration
}

const (
	container = "lockbench"
	program   = "lockbench"
	// home is a directory of the pod's own, which ends with it. Whatever is started there has it as
	// its current directory.
	home = "/work"
	// retries is how often a shard is begun again.
	retries = 5
	// kept is how long the cluster remembers a job that has ended, and that nobody removed.
	kept = 24 * time.Hour
)

// ours is the label of all that is ours, and says what a job does.
const ours = "lockbench.org/work"

type pair struct{ Key, Value string }

// manifest is what the template sees.
type manifest struct {
	Work
	Labels                   []pair
	Retries                  int
	Kept                     time.Duration
	Container, Program, Home string
	Rootless                 bool
	Memory                   string
}

//go:embed job.yaml
var jobYAML string

var jobTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("job").Funcs(template.FuncMap{
		"quote":   quoted,
		"seconds": func(d time.Duration) int64 { return int64(d.Seconds()) },
	}).Parse(jobYAML))
})

// quoted is a string in YAML, of which JSON is a part.
func quoted(s string) (string, error) {
	text, err := json.Marshal(s)
	return string(text), err
}

// Manifest is the job in YAML: what [Cluster.Create] makes, for people to read and to apply.
func (w Work) Manifest() (string, error) {
	m := manifest{Work: w, Retries: retries, Kept: kept, Container: container, Program: program, Home: home,
		Rootless: w.Rights == Rootless, Memory: w.Resources.of("memory"),
		Labels: []pair{
			{"app.kubernetes.io/name", "lockbench"}, {"app.kubernetes.io/component", w.What}, {"app.kubernetes.io/managed-by", "lockbench"},
			{"app.kubernetes.io/instance", w.Name}, {"app.kubernetes.io/version", labelled(w.Version)}, {ours, w.What},
		}}
	var b strings.Builder
	if err := jobTemplate().Execute(&b, m); err != nil {
		return "", err
	}
	_, err := Decode(b.String())
	return b.String(), err
}

// Decode reads a manifest. Nothing in it may be unknown.
func Decode(manifest string) (*batch.Job, error) {
	var job batch.Job
	if err := yaml.UnmarshalStrict([]byte(manifest), &job); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	return &job, nil
}

// labelled is the first word of a text as a label's value may be.
func labelled(text string) string {
	text, _, _ = strings.Cut(text, " ")
	const longest = 63
	valid := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, text)
	return strings.Trim(valid[:min(longest, len(valid))], "._-")
}

// Args are those that the pods of a job of ours were given.
func Args(job *batch.Job) ([]string, error) {
	for _, c := range job.Spec.Template.Spec.Containers {
		if c.Name == container && len(c.Command) == 1 && c.Command[0] == program && job.Spec.Completions != nil {
			return c.Args, nil
		}
	}
	return nil, fmt.Errorf("job %s is none of lockbench's", job.Name)
}

// Resources are what a pod asks for, by the cluster's names.
type Resources []pair

// ParseResources reads such as cpu=2,memory=4Gi.
func ParseResources(s string) (all Resources, err error) {
	for _, one := range strings.Split(s, ",") {
		name, amount, ok := strings.Cut(one, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not NAME=AMOUNT, such as cpu=2", one)
		}
		if q, err := resource.ParseQuantity(amount); err != nil || q.Sign() <= 0 {
			return nil, fmt.Errorf("%q: the amount is none of Kubernetes', such as 2, 500m or 4Gi", one)
		}
		if all.of(name) != "" {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		all = append(all, pair{name, amount})
	}
	if all.of("cpu") == "" {
		return nil, errors.New("no cpu: without it all shards may come to one node")
	}
	return all, nil
}

func (r Resources) of(name string) string {
	if i := slices.IndexFunc(r, func(p pair) bool { return p.Key == name }); i >= 0 {
		return r[i].Value
	}
	return ""
}

// CPUs is how many processors that is, a part of one counted as one.
func (r Resources) CPUs() int {
	q, err := resource.ParseQuantity(r.of("cpu"))
	if err != nil {
		return 1
	}
	return max(1, int(q.Value())) // which rounds up
}
