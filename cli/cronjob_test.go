package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/lockbench/lockbench/internal/gate"
	"github.com/lockbench/lockbench/internal/kubernetes"
)

// TestCronJob: the weekly gate is what Kubernetes reads without a doubt, calls what there is, and
// may do what the pods of a matrix may.
func TestCronJob(t *testing.T) {
	text, err := os.ReadFile("../docs/ci/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n---\n")
	if len(parts) != 2 {
		t.Fatalf("%d documents", len(parts))
	}
	var config core.ConfigMap
	var cron batch.CronJob
	for i, into := range []any{&config, &cron} {
		if err := yaml.UnmarshalStrict([]byte(parts[i]), into); err != nil {
			t.Fatal(err)
		}
	}
	if cron.Kind != "CronJob" || config.Kind != "ConfigMap" || cron.APIVersion != "batch/v1" || config.APIVersion != "v1" {
		t.Errorf("%v, %v", cron.TypeMeta, config.TypeMeta)
	}
	pod := cron.Spec.JobTemplate.Spec.Template.Spec
	c := pod.Containers[0]
	tryCommand(t, append(c.Command, c.Args...), map[string]string{})
	if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.ConfigMap != nil && v.ConfigMap.Name == config.Name }) {
		t.Errorf("the file of the gate is not mounted: %+v", pod.Volumes)
	}
	file := filepath.Join(t.TempDir(), gateFile)
	if err := os.WriteFile(file, []byte(config.Data[gateFile]), 0o644); err != nil {
		t.Fatal(err)
	}
	if conf, err := gate.Load(file); err != nil || len(conf.Promises) != 2 {
		t.Errorf("the file of the gate: %+v, %v", conf, err)
	}
	manifest, err := kubernetes.Work{Name: "x", What: "matrix", Shards: 1, Rights: kubernetes.Rootless, Image: kubernetes.Image}.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	job, err := kubernetes.Decode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	shard := job.Spec.Template.Spec
	for what, both := range map[string][2]any{
		"the pod's rights": {pod.SecurityContext, shard.SecurityContext}, "the container's rights": {c.SecurityContext, shard.Containers[0].SecurityContext},
		"the image": {c.Image, shard.Containers[0].Image}, "the directory": {c.WorkingDir, shard.Containers[0].WorkingDir},
		"the token": {pod.AutomountServiceAccountToken, shard.AutomountServiceAccountToken},
	} {
		if !reflect.DeepEqual(both[0], both[1]) {
			t.Errorf("%s: %+v in the CronJob, %+v in the pods of a matrix", what, both[0], both[1])
		}
	}
}

// roleInManual is the Role that the manual says people need.
func roleInManual(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatal("the manual has no Role")
	}
	return string(found[1])
}

// TestRoleInManual: the Role that people are told to have is one. TestOnKubernetes has no more
// rights than that.
func TestRoleInManual(t *testing.T) {
	var role rbac.Role
	if err := yaml.UnmarshalStrict([]byte(roleInManual(t)), &role); err != nil || role.Kind != "Role" || len(role.Rules) != 4 {
		t.Errorf("%+v, %v", role, err)
	}
}
