package clock

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit"
)

// asParent makes a test be itself, in a process of its own.
const asParent = "LOCKBENCH_TEST_CLOCK_PARENT"

// alone has a test run in a process of its own, the clocks of which it may move.
func alone(t *testing.T) (here bool) {
	testkit.Need(t, "a C compiler", HasCompiler())
	if os.Getenv(asParent) != "" {
		return true
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env, cmd.WaitDelay = append(os.Environ(), asParent+"=1"), time.Second
	out, err := cmd.CombinedOutput()
	if t.Log(string(out)); err != nil {
		t.Fatal(err)
	}
	return false
}

// child is a program that tells its clocks when it is asked, and sleeps.
type child struct {
	*testing.T
	in  io.Writer
	out *bufio.Reader
}

func start(t *testing.T, argv ...string) *child {
	t.Helper()
	env, err := ForChildren()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &child{t, in, bufio.NewReader(out)}
}

func (c *child) ask(what string) string {
	c.Helper()
	_, _ = io.WriteString(c.in, what+"\n")
	said, err := c.out.ReadString('\n')
	if err != nil {
		c.Fatalf("asked for %s: %v", what, err)
	}
	return strings.TrimSpace(said)
}

// reads checks clocks that are told against those of this process, before and after.
func (c *child) reads(what string) {
	c.Helper()
	const coarse = 10 * time.Millisecond // what a program may round to
	var host lb.HostClock
	var w, m int64
	wall, mono := host.Now(), host.Mono()
	if _, err := fmt.Sscan(c.ask(what), &w, &m); err != nil {
		c.Fatal(err)
	}
	if told := time.Unix(0, w); told.Before(wall.Add(-coarse)) || told.After(host.Now().Add(coarse)) {
		c.Errorf("%s: its wall clock was at %v between %v and %v", what, told, wall, host.Now())
	}
	if m != 0 && (lb.Reading(m) < mono.Add(-coarse) || lb.Reading(m) > host.Mono().Add(coarse)) {
		c.Errorf("%s: its monotonic clock was at %d between %d and %d", what, m, mono, host.Mono())
	}
}

// sleeps checks that sleeps of 100 ms are such by the moved clock, which the child was seen
// to read. A machine that is busy makes one longer, but hardly each.
func (c *child) sleeps() {
	c.Helper()
	const nap, long, tries = 100 * time.Millisecond, 180 * time.Millisecond, 20
	var host lb.HostClock
	best := map[string]time.Duration{}
	for range tries {
		before := host.Mono()
		said := c.ask("sleep")
		after, late := host.Mono(), false
		for s := range strings.SplitSeq(said, ",") {
			way, times, _ := strings.Cut(s, ":")
			var begin, end lb.Reading
			if _, err := fmt.Sscanf(times, "%d:%d", &begin, &end); err != nil {
				c.Fatalf("%q: %v", said, err)
			}
			if begin == 0 {
				begin, end = before, after
			}
			took := end.Sub(begin)
			if took < nap-2*time.Millisecond { // that much some round
				c.Errorf("%s took %v by its own clock", way, took)
			}
			if b, ok := best[way]; !ok || took < b {
				best[way] = took
			}
			late = late || best[way] > long
		}
		if !late {
			return
		}
	}
	c.Errorf("of %d sleeps of 100ms the shortest were %v by their own clock", tries, best)
}

func TestChildren(t *testing.T) {
	if !alone(t) {
		return
	}
	classes := t.TempDir()
	for _, tc := range []struct {
		needs   []string
		argv    []string
		extra   []string // that it can be asked for
		compile []string
	}{
		{needs: []string{"bash", "setsid"}, argv: []string{"bash", "testdata/child.sh"}, extra: []string{"grandchild"}},
		{needs: []string{"python3"}, argv: []string{"python3", "testdata/child.py"}, extra: []string{"grandchild"}},
		{needs: []string{"node"}, argv: []string{"node", "testdata/child.js"}},
		{needs: []string{"java", "javac"}, argv: []string{"java", "-XX:TieredStopAtLevel=1", "-cp", classes, "Child"},
			compile: []string{"javac", "-d", classes, filepath.Join("testdata", "Child.java")}},
	} {
		t.Run(tc.argv[0], func(t *testing.T) {
			for _, tool := range tc.needs {
				_, err := exec.LookPath(tool)
				testkit.Need(t, tool, err)
			}
			if tc.compile != nil {
				if out, err := exec.Command(tc.compile[0], tc.compile[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			early := start(t, tc.argv...)
			early.reads("read")
			moveTo(t, 10*time.Second, 0)
			early.reads("read")
			late := start(t, tc.argv...)
			late.reads("read")
			for _, step := range []struct {
				ahead time.Duration
				rate  float64
			}{{-10 * time.Second, 0}, {20 * time.Second, -0.5}, {-20 * time.Second, 1}, {0, 0}} {
				moveTo(t, step.ahead, step.rate)
				for _, c := range []*child{early, late} {
					c.reads("read")
					for _, what := range tc.extra {
						c.reads(what)
					}
				}
				early.sleeps()
			}
		})
	}
}

// TestMonotonicClocks that move do so together.
func TestMonotonicClocks(t *testing.T) {
	if !alone(t) {
		return
	}
	_, err := exec.LookPath("python3")
	testkit.Need(t, "python3", err)
	c := start(t, "python3", "testdata/child.py")
	c.ask("read")
	moveTo(t, 0, 1)
	time.Sleep(200 * time.Millisecond)
	moveTo(t, time.Minute, 0.5)
	var apart time.Duration
	if _, err := fmt.Sscan(c.ask("alike"), &apart); err != nil {
		t.Fatal(err)
	}
	if apart > 50*time.Millisecond {
		t.Errorf("monotonic clocks have come apart by %v", apart)
	}
}

// TestMovedBefore has the first child start when the clocks have long been moved.
func TestMovedBefore(t *testing.T) {
	if !alone(t) {
		return
	}
	moveTo(t, -time.Minute, 1)
	time.Sleep(100 * time.Millisecond)
	start(t, "bash", "testdata/child.sh").reads("read")
}

func moveTo(t *testing.T, ahead time.Duration, rate float64) {
	t.Helper()
	if err := Move(ahead, rate); err != nil {
		t.Fatal(err)
	}
}
