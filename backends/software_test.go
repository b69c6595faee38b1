package backends_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/lab"
)

// paper is a host that nothing runs on.
type paper struct{ lab.Host }

func (paper) Name() string { return "h1" }
func (paper) Addr() string { return "192.0.2.1" }

func programOf(t lab.Topology) lab.Program { return t.Kind.Program(paper{}, []lab.Host{paper{}}) }

// TestWith: each software gets options and another binary where its program looks for them.
func TestWith(t *testing.T) {
	for _, name := range []string{"redis", "redis-sentinel", "etcd", "zookeeper", "mariadb", "mariadb-replica", "memcached", "nats", "consul", "kubernetes"} {
		before, _ := backends.Topology(name)
		with, err := before.With(lab.Own{Options: []string{"an-option=7"}, Binary: before.Kind.Software.Name + "=/opt/own"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		said := func(p lab.Program) string {
			text := strings.Join(slices.Concat(p.Argv, p.Env), " ")
			for _, file := range p.Files {
				text += file
			}
			return text
		}
		p := said(programOf(with))
		if !strings.Contains(p, "an-option") || !strings.Contains(p, "/opt/own") {
			t.Errorf("%s: %s", name, p)
		}
		if p := said(programOf(before)); strings.Contains(p, "an-option") || strings.Contains(p, "/opt/own") {
			t.Errorf("%s: what was given to one topology is in another: %s", name, p)
		}
		if asked := strings.Join(with.Kind.Version.Command, " "); !strings.Contains(asked, "/opt/own") {
			t.Errorf("%s: another binary is asked for its version: %s", name, asked)
		}
		if with.Sentinels > 0 && !strings.Contains(said(with.Watchers.Program(paper{}, []lab.Host{paper{}})), "/opt/own") {
			t.Errorf("%s: its Sentinels are of another binary", name)
		}
		if before.Kind.Software.Builtin != "" && with.Clock() {
			t.Errorf("the clock of a foreign %s can't be moved", name)
		}
		if err := with.Kind.Missing(); name != "zookeeper" && err == nil {
			t.Errorf("%s: a binary that is not there is not missed", name)
		}
	}
	redis, _ := backends.Topology("redis")
	if other, err := redis.With(lab.Own{Binary: "etcd=/opt/own"}); err != nil || programOf(other).Argv[0] != "redis-server" {
		t.Errorf("a binary of other software: %v, %v", programOf(other).Argv, err)
	}
	if other, err := redis.With(lab.Own{Image: "etcd=etcd:3"}); err != nil || other.Kind.Image != redis.Kind.Image {
		t.Errorf("an image of other software: %v, %v", other.Kind.Image, err)
	}
	both := lab.Own{Binary: "etcd=/opt/own", Image: "redis=redis:8"}
	if got := both.For(redis); got.Binary != "" || got.Image != both.Image {
		t.Errorf("of %+v redis has %+v", both, got)
	}
	mariadb, _ := backends.Topology("mariadb")
	for _, wrong := range []lab.Own{{Options: []string{"a"}}, {Options: []string{"=1"}}, {Options: []string{"a=1\n2"}}, {Options: []string{"a=b c"}},
		{Binary: "mariadb"}, {Binary: "mariadb=relative"}, {Binary: "=/opt/own"},
		{Image: "mariadb"}, {Image: "mariadb="}, {Image: "=mariadb:11"}, {Image: "mariadb=a=b"}} {
		if _, err := mariadb.With(wrong); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
	none, _ := backends.Topology("none")
	if _, err := none.With(lab.Own{Options: []string{"a=1"}}); err == nil {
		t.Error("options for no servers are accepted")
	}
}

// TestOthers: software is refused that no topology is made of, by the list of what there is.
func TestOthers(t *testing.T) {
	redis, _ := backends.Topology("redis")
	etcd, _ := backends.Topology("etcd")
	all := []lab.Topology{{Name: "none"}, redis, redis, etcd}
	for _, right := range []lab.Own{{}, {Binary: "etcd=/opt/own", Image: "redis=redis:8"}} {
		if err := right.Check(all); err != nil {
			t.Errorf("%+v: %v", right, err)
		}
	}
	for want, wrong := range map[string]lab.Own{
		`server binary "mariadb=/opt/own": the software is redis or etcd`: {Binary: "mariadb=/opt/own"},
		`image "mariadb=mariadb:11": the software is redis or etcd`:       {Image: "mariadb=mariadb:11"},
		`image "redis" is not SOFTWARE=NAME`:                              {Image: "redis"},
	} {
		if err := wrong.Check(all); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// rack notes of which image each host would be.
type rack struct {
	lab.Lab
	images chan string
}

func (r rack) Host(_ context.Context, _, image string) (lab.Host, error) {
	r.images <- image
	return nil, errors.New("only paper")
}

// TestImage: all servers of the software come from the image, the Sentinels, too, and a name
// without a tag is the latest, and not a kind's name.
func TestImage(t *testing.T) {
	for name, want := range map[string]string{
		"redis": "redis:latest", "redis:8": "redis:8", "host:5000/redis": "host:5000/redis:latest", "redis@sha256:0": "redis@sha256:0",
	} {
		top, _ := backends.Topology("redis-sentinel")
		top, err := top.With(lab.Own{Image: "redis=" + name})
		if err != nil {
			t.Fatal(err)
		}
		r := rack{images: make(chan string, top.Servers+top.Sentinels)}
		_, _ = lab.StartService(t.Context(), r, top, lab.Options{})
		for range cap(r.images) {
			if got := <-r.images; got != want {
				t.Errorf("%s: a host of image %s, want %s", name, got, want)
			}
		}
	}
}
