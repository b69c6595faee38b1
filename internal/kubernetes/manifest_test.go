package kubernetes

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

var update = flag.Bool("update", false, "write the golden manifests")

func work(t *testing.T) Work {
	t.Helper()
	resources, err := ParseResources("cpu=1500m,memory=3Gi,ephemeral-storage=1Gi")
	if err != nil {
		t.Fatal(err)
	}
	return Work{Name: "lockbench-1", What: "matrix", Title: "A matrix.", Follow: "lockbench matrix --on kubernetes --follow lockbench-1 --out DIR", Version: "v1.2.3 (of a day)",
		Image: Image, Shards: 6, Args: []string{"pod-shard", "--of=6", "--faults=kill@after-setnx", `--algorithms=a"b: '{{c}}` + "\n#"},
		Resources: resources, Rights: Rootless, Deadline: 90 * time.Minute}
}

// TestManifest: what is printed is what a person has read before, and what is made of it is what
// was asked for.
func TestManifest(t *testing.T) {
	rootless := work(t)
	other := rootless
	other.Rights, other.Namespace = Capabilities, "locks"
	other.Resources = Resources{{"cpu", "2"}}
	for name, w := range map[string]Work{"rootless": rootless, "capabilities": other} {
		text, err := w.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".yaml")
		if *update {
			if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || text != string(want) {
			t.Errorf("%s is not %s (go test -run Manifest -update writes it): %v\n%s", name, golden, err, text)
		}
		job, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		args, err := Args(job)
		if err != nil || strings.Join(args, "|") != strings.Join(w.Args, "|") {
			t.Errorf("%s: the arguments are %q, and come back as %q: %v", name, w.Args, args, err)
		}
		if *job.Spec.Completions != 6 || *job.Spec.CompletionMode != batch.IndexedCompletion || *job.Spec.ActiveDeadlineSeconds != 5400 || job.Namespace != w.Namespace {
			t.Errorf("%s: %+v", name, job.Spec)
		}
		c := job.Spec.Template.Spec.Containers[0]
		if caps := c.SecurityContext.Capabilities; w.Rights == Rootless && len(caps.Add) > 0 || len(caps.Drop) != 1 || caps.Drop[0] != "ALL" {
			t.Errorf("%s: %+v", name, caps)
		}
		if _, limited := c.Resources.Limits[core.ResourceCPU]; limited {
			t.Errorf("%s: processor time is limited: %+v", name, c.Resources)
		}
	}
}

// TestStrict: a key that Kubernetes does not know is an error, and not left out.
func TestStrict(t *testing.T) {
	text, err := work(t).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(strings.Replace(text, "parallelism:", "paralelism:", 1)); err == nil || !strings.Contains(err.Error(), "paralelism") {
		t.Errorf("%v", err)
	}
	if _, err := Args(&batch.Job{}); err == nil {
		t.Error("a job of somebody else's has arguments of ours")
	}
}

func TestResources(t *testing.T) {
	for text, want := range map[string]string{
		"cpu=2,memory=4Gi": "", "cpu=500m": "", "cpu": "is not NAME=AMOUNT", "cpu=two": "Kubernetes'", "cpu=0": "Kubernetes'",
		"memory=4Gi": "no cpu", "cpu=1,cpu=2": "twice", "": "is not NAME=AMOUNT",
	} {
		_, err := ParseResources(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]int{"cpu=2": 2, "cpu=500m": 1, "cpu=1500m": 2} {
		if r, err := ParseResources(text); err != nil || r.CPUs() != want {
			t.Errorf("%q: %d processors, and not %d: %v", text, r.CPUs(), want, err)
		}
	}
}

func TestLabelled(t *testing.T) {
	for text, want := range map[string]string{"v1.2.3": "v1.2.3", "devel (revision unknown)": "devel", "v1+x y": "v1-x", strings.Repeat("a", 100): strings.Repeat("a", 63)} {
		if got := labelled(text); got != want {
			t.Errorf("%q: %q, and not %q", text, got, want)
		}
	}
}
