package foreign_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/processes"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) {
	if err := processes.Adopt(); err != nil { // as a worker does
		panic(err)
	}
	labtest.Main(m)
}

// broken is testdata/broken.py, which does one thing wrong.
func broken(t *testing.T, wrong string) foreign.Command {
	t.Helper()
	path, err := filepath.Abs("testdata/broken.py")
	if err != nil {
		t.Fatal(err)
	}
	return foreign.Command{Line: "exec " + path + " " + wrong, Title: "broken.py"}
}

// onRedis is the lock of a command, as everybody opens it.
func onRedis(c foreign.Command) lb.Impl {
	return foreign.Hearing(foreign.New(c, foreign.Description{}), redis.Language)
}

// watch is a probe that remembers steps.
type watch struct {
	mu       sync.Mutex
	steps    []lb.Move
	sessions []string
	lost     []string
}

func (w *watch) Step(ctx context.Context, m lb.Move) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps = append(w.steps, m)
	return ctx.Err()
}
func (w *watch) Wait(context.Context, lb.Move) func() { return func() {} }
func (w *watch) Go(lb.Actor) func()                   { return func() {} }
func (w *watch) Renewed(*lb.Lease, lb.Reading)        {}
func (w *watch) Lost(l *lb.Lease, _ string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = append(w.lost, l.Request.Owner)
}
func (w *watch) Session(name string) { w.sessions = append(w.sessions, name) }

func envOf(t *testing.T, topology string) (*lb.Env, *watch) {
	t.Helper()
	w := &watch{}
	return &lb.Env{Client: "c", Servers: labtest.Endpoints(labtest.Servers(t, topology)), TTL: 2 * time.Second, Clock: lb.HostClock{},
		Rand: rand.New(rand.NewPCG(1, 1)), Probe: w}, w
}

// sections acquires and releases a few times, until something fails.
func sections(t *testing.T, c lb.Client, n int) error {
	for i := range n {
		req := lb.Request{Lock: "lockbench-" + t.Name(), Owner: "c." + string(rune('a'+i))}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		_, err := c.Acquire(ctx, req)
		cancel()
		if err == nil || lb.AnswerOf(err) == lb.AnswerUnknown {
			err = errors.Join(err, c.Release(t.Context(), req))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestWrongs: each is told in one line, in time, and nothing is left behind.
func TestWrongs(t *testing.T) {
	env, _ := envOf(t, "redis")
	described := make(chan error)
	go func() { // which takes 20 s
		_, _, err := foreign.Describe(t.Context(), broken(t, "never-reads"))
		described <- err
	}()
	for _, c := range []struct{ wrong, told string }{
		{"hangs", "broken.py did not answer acquire 5 within 5s of its being cancelled"},
		{"wrong-number", `broken.py said {"n": 1011, "say": "held"}, which answers nothing that was asked`},
		{"two-answers", `broken.py answered acquire 11 twice, the second time with {"n": 11, "say": "held"}`},
		{"garbage", `broken.py printed "Traceback: something of a library's" on standard output`},
		{"exits", "broken.py ended before it answered acquire 11, with exit status 1: broken.py: this is its last word"},
		{"dies", "broken.py ended before it answered acquire 11, with "},
		{"endless-line", "broken.py printed a line of more than 64 KiB on standard output"},
		{"endless-lines", "broken.py said more than 10000 things between two answers"},
		{"answers-after-cancel", `broken.py answered acquire 5 twice, the second time with {"n": 5, "say": "ok"}`},
		{"wrong-word", `broken.py answered acquire 11 with "released", which is not among its answers: ok, held, no-effect, unsupported, unknown`},
		{"wall-clock", "is it CLOCK_MONOTONIC, in ns?"},
		{"a-text", "where until_ns can't be string"},
		{"grants-unasked", `broken.py said {"n": 12, "say": "ok", "until_ns": `},
		{"somebody-elses", `broken.py said lost of the owner "nobody", for whom it was not asked`},
		{"stops-reading", "broken.py does not read its standard input: 1024 messages wait for it"},
		{"closes-stdout", "broken.py closed its standard output, and runs on"},
		{"repeats-the-owner", ""},
		{"", ""},
		{"leaves-a-helper", ""},
	} {
		t.Run(c.wrong, func(t *testing.T) {
			client, err := onRedis(broken(t, c.wrong)).Open(t.Context(), env)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			err = errors.Join(sections(t, client, 7), client.Close())
			var f *foreign.Finding
			switch {
			case c.told == "" && err != nil:
				t.Errorf("it did nothing wrong, and was told: %v", err)
			case c.told != "" && !errors.As(err, &f):
				t.Fatalf("told %v, want %q", err, c.told)
			case c.told != "" && (!strings.Contains(f.Error(), c.told) || strings.Contains(f.Error(), "\n")):
				t.Errorf("told %q, want %q in one line", f, c.told)
			}
			if took := time.Since(begin); took > 12*time.Second {
				t.Errorf("it took %v", took)
			}
			nothingIsLeft(t)
		})
	}
	if err := <-described; err == nil || err.Error() != "broken.py did not answer describe within 20s" {
		t.Errorf("told %v of one that never reads", err)
	}
}

// nothingIsLeft of the programs, a moment after their end.
func nothingIsLeft(t *testing.T) {
	t.Helper()
	left := []int{0}
	for end := time.Now().Add(5 * time.Second); len(left) > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		all, err := processes.Of(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		left = slices.DeleteFunc(all, func(pid int) bool { return !processes.Runs(pid) || isServer(pid) })
	}
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// isServer tells the lab's own children, and the program that is described meanwhile, from those
// that should have ended.
func isServer(pid int) bool {
	line, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return strings.Contains(string(line), "never-reads") || !strings.Contains(string(line), "broken.py") && !strings.Contains(string(line), "sleep")
}

// TestSteps: what a program sends passes its client's steps, for the call that it serves, and
// nothing is said of it by the program.
func TestSteps(t *testing.T) {
	env, seen := envOf(t, "redis")
	client, err := onRedis(broken(t, "")).Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := sections(t, client, 1); err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, m := range seen.steps {
		steps = append(steps, m.Name+" "+m.Owner)
	}
	want := []string{"before-set c.a", "after-set c.a", "before-del c.a", "after-del c.a"}
	if !slices.Equal(steps, want) {
		t.Errorf("passed %q, want %q", steps, want)
	}
	other := lb.Request{Lock: "lockbench-" + t.Name(), Owner: "c.x"}
	if _, err := client.Acquire(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	seen.steps = nil
	again := lb.Request{Lock: other.Lock, Owner: "c.y", Try: true}
	if _, err := client.Acquire(t.Context(), again); !errors.Is(err, lb.ErrHeld) {
		t.Fatal(err)
	}
	if len(seen.steps) != 1 || seen.steps[0].Name != "before-set" {
		t.Errorf("a request that was refused passed %v, want no step behind it", seen.steps)
	}
}
