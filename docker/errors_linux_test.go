package docker

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
)

func TestStartErrors(t *testing.T) {
	l := inside(t)
	if l == nil {
		return
	}
	h := newHost(t, l, "h1", redisImage)
	with := func(change func(*lab.Program)) lab.Program {
		p := server()
		change(&p)
		return p
	}
	refused := errors.New("refused")
	for _, tc := range []struct {
		name string
		p    lab.Program
		want string
	}{
		{"no command", with(func(p *lab.Program) { p.Argv = nil }), "the program has no command"},
		{"no such command", with(func(p *lab.Program) { p.Argv = []string{"no-such-server"} }), "no-such-server is not installed in the image"},
		{"ends at once", with(func(p *lab.Program) { p.Argv = []string{"sh", "-c", "exit 7"} }), "exit status 7"},
		{"ends before it is ready", with(func(p *lab.Program) {
			p.Argv = []string{"sh", "-c", "sleep 0.5; exit 8"}
			p.Ready = func(context.Context, string) error { return refused }
		}), "ended before it was ready: refused (it ended with: exit status 8)"},
	} {
		_, err := h.Start(t.Context(), tc.p)
		if err == nil || !strings.HasPrefix(err.Error(), "start h1: ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one about %q", tc.name, err, tc.want)
		}
	}
}

func TestHostErrors(t *testing.T) {
	l := inside(t)
	if l == nil {
		return
	}
	newHost(t, l, "r1", "")
	for _, name := range []string{"", "R1", "a_b", "-a", "a-", "a.b", "../r1", strings.Repeat("a", 64), "r1"} {
		if _, err := l.Host(t.Context(), name, ""); err == nil || !strings.HasPrefix(err.Error(), "host "+name+": ") {
			t.Errorf("host %q: error %v", name, err)
		}
	}
	if _, err := l.Host(t.Context(), "r2", "lockbench/no-such-image:none"); !errors.Is(err, errAbsent) {
		t.Errorf("a host of an image that is absent: %v", err)
	}
}

func TestResolve(t *testing.T) {
	testkit.Need(t, "a container engine with the redis image", Check(t.Context(), redisImage))
	engine, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	resolves := func(kind, want string, absent bool) {
		t.Helper()
		got, err := resolve(t.Context(), engine, kind)
		if got != want || errors.Is(err, errAbsent) != absent {
			t.Errorf("%s is %q, %v; want %q, absent: %v", kind, got, err, want, absent)
		}
	}
	present, err := resolve(t.Context(), engine, redisImage)
	if err != nil {
		t.Fatal(err)
	}
	resolves(present, present, false) // an image's own name
	const none = "lockbench/no-such-image:none"
	resolves(none, none, true)
	t.Setenv("LOCKBENCH_IMAGE_REDIS", none) // an explicit name has no fallback
	resolves(redisImage, none, true)
	t.Setenv("LOCKBENCH_IMAGE_ZOOKEEPER", present)
	resolves("zookeeper=zookeeper:3.9", present, false)
}

// TestComposeImages: who looks at servers by hand has those of the lab.
func TestComposeImages(t *testing.T) {
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, top := range backends.Topologies() {
		kind, official := named(top.Kind.Image)
		if top.Kind.Image == "" {
			continue
		}
		if want := "${" + override(kind) + ":-" + official + "}"; !strings.Contains(string(text), want) {
			t.Errorf("compose.yaml has no %s", want)
		}
	}
}

func TestMissingImage(t *testing.T) {
	t.Setenv("LOCKBENCH_IMAGE_REDIS", "lockbench/no-such-image:none")
	for kind, want := range map[string]string{
		redisImage: "docker: image lockbench/no-such-image:none: the image is not on this engine: " +
			"docker pull lockbench/no-such-image:none, name another one in LOCKBENCH_IMAGE_REDIS, " +
			"or build it with `make docker-images`",
		"lockbench/other:none": "docker: image lockbench/other:none: the image is not on this engine: " +
			"docker pull lockbench/other:none",
	} {
		testkit.Need(t, "a container engine", Check(t.Context()))
		if err := Check(t.Context(), kind); err == nil || err.Error() != want {
			t.Errorf("%s: error\n%v, want\n%v", kind, err, want)
		}
	}
}

// TestAsk: a command's answer comes from the image, and nothing is left of the question.
func TestAsk(t *testing.T) {
	testkit.Need(t, "a container engine with the redis image", Check(t.Context(), redisImage))
	text, err := ask(t.Context(), lab.Kind{Image: redisImage}, []string{"redis-server", "--version"})
	if err != nil || !strings.HasPrefix(string(text), "Redis server v=") {
		t.Errorf("the image says %q, %v", text, err)
	}
	if _, err := ask(t.Context(), lab.Kind{Image: redisImage}, []string{"false"}); err == nil {
		t.Error("a question that fails has an answer")
	}
	if left := leftovers(t, os.Getpid()); len(left) > 0 {
		t.Errorf("questions have left %q", left)
	}
}
