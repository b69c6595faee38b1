package docker

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testenv"
	"github.com/lockbench/lockbench/lab"
)

func TestStartErrors(t *testing.T) {
	l := open(t, "")
	refused := errors.New("refused")
	with := func(change func(*lab.Program)) lab.Program {
		p := server(nil)
		change(&p)
		return p
	}
	for i, tc := range []struct {
		name string
		p    lab.Program
		want string
	}{
		{"no port", with(func(p *lab.Program) { p.Port = 0 }), "it has none"},
		{"stdin", with(func(p *lab.Program) { p.Stdin = strings.NewReader("") }), "no standard input"},
		{"no command", with(func(p *lab.Program) { p.Argv = nil }), "the program has no command"},
		{"no such command", with(func(p *lab.Program) { p.Argv = []string{"no-such-server"} }), "executable file not found"},
		// A port of this machine that no registry has: the refusal comes at once.
		{"no such image", with(func(p *lab.Program) { p.Image = "127.0.0.1:1/no:such" }),
			"image 127.0.0.1:1/no:such: the image is not on this engine: docker pull 127.0.0.1:1/no:such (a pull failed: "},
		{"ends at once", with(func(p *lab.Program) { p.Argv = []string{"sh", "-c", "exit 7"} }), "exit status 7"},
		{"ends before it is ready", with(func(p *lab.Program) {
			p.Argv = []string{"sh", "-c", "sleep 0.5; exit 8"}
			p.Ready = func(context.Context, string) error { return refused }
		}), "ended before it was ready: refused (it ended with: docker: h6: exit status 8)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name := "h" + string(rune('0'+i))
			_, err := newHost(t, l, name).Start(t.Context(), tc.p)
			if err == nil || !strings.HasPrefix(err.Error(), "docker: start "+name+": ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one about %q", err, tc.want)
			}
		})
	}
	if found := leftovers(t, os.Getpid()); len(found) != 1 {
		t.Errorf("failed starts left %q, want the network alone", found)
	}
}

func TestStartNotReady(t *testing.T) {
	h := newHost(t, open(t, ""), "r1")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	p := server(nil)
	refused := errors.New("refused")
	p.Ready = func(context.Context, string) error { return refused }
	if _, err := h.Start(ctx, p); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	if found := leftovers(t, os.Getpid()); len(found) != 1 {
		t.Errorf("a start in vain left %q, want the network alone", found)
	}
}

func TestHostNames(t *testing.T) {
	l := open(t, "")
	newHost(t, l, "r1")
	for _, name := range []string{"", "R1", "a_b", "-a", "a-", "a.b", "../r1", strings.Repeat("a", 64), "r1"} {
		if _, err := l.Host(t.Context(), name); err == nil || !strings.HasPrefix(err.Error(), "docker: host ") {
			t.Errorf("host %q: error %v", name, err)
		}
	}
}

func TestResolve(t *testing.T) {
	testenv.Need(t, "a container engine with the redis image", Check(t.Context(), "redis"))
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
	present, err := resolve(t.Context(), engine, "redis")
	if err != nil {
		t.Fatal(err)
	}
	resolves(present, present, false) // an image's own name
	const none = "lockbench/no-such-image:none"
	resolves(none, none, true)
	t.Setenv("LOCKBENCH_IMAGE_REDIS", none) // an explicit name has no fallback
	resolves("redis", none, true)
	t.Setenv("LOCKBENCH_IMAGE_ZOOKEEPER", present)
	resolves("zookeeper", present, false)
}

func TestMissingImage(t *testing.T) {
	t.Setenv("LOCKBENCH_IMAGE_REDIS", "lockbench/no-such-image:none")
	for kind, want := range map[string]string{
		"redis": "docker: image lockbench/no-such-image:none: the image is not on this engine: " +
			"docker pull lockbench/no-such-image:none, name another one in LOCKBENCH_IMAGE_REDIS, " +
			"or build it with `make docker-images`",
		"lockbench/other:none": "docker: image lockbench/other:none: the image is not on this engine: " +
			"docker pull lockbench/other:none",
	} {
		testenv.Need(t, "a container engine", Check(t.Context()))
		if err := Check(t.Context(), kind); err == nil || err.Error() != want {
			t.Errorf("%s: error\n%v, want\n%v", kind, err, want)
		}
	}
}

// Closing a lab must not wait for a start that is still going on.
func TestCloseEndsAStart(t *testing.T) {
	l := open(t, "")
	h := newHost(t, l, "r1")
	p := server(nil)
	asked := make(chan struct{})
	var once sync.Once
	p.Ready = func(context.Context, string) error {
		once.Do(func() { close(asked) })
		return errors.New("refused")
	}
	started := make(chan error, 1)
	go func() {
		_, err := h.Start(context.Background(), p)
		started <- err
	}()
	<-asked
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-started; !errors.Is(err, context.Canceled) {
		t.Errorf("the start ended with %v", err)
	}
	if found := leftovers(t, os.Getpid()); len(found) != 0 {
		t.Errorf("a closed lab has left %q", found)
	}
}
