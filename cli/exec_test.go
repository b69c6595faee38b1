package cli

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/languages"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
)

// languagesAreHere skips, or fails in CI, where a language or a library is missing.
func languagesAreHere(t *testing.T) {
	t.Helper()
	for _, l := range append(languages.Libraries(), languages.RedisCLI()) {
		testkit.Need(t, l.Info().Name, catalog.Ready(l))
	}
}

// TestOwnProgram begins a lock from each template, and has the same verdict of it as of the lock
// in Go that does the same. What strikes a client strikes its program. A fault with a + is left to make
// test-all: another language, or a lock in Go, has it in make test.
func TestOwnProgram(t *testing.T) {
	t.Parallel()
	needLab(t, 0)
	languagesAreHere(t)
	for _, c := range []struct {
		language, build, exec string
		jobs, ttl, duration   string
		want                  map[string]lb.Outcome
	}{
		{"python", "", "./mylock.py", "2", "1s", "1s", map[string]lb.Outcome{"none": lb.Safe, "pause-holder": lb.Check, "kill-holder": lb.Safe,
			"client-clock+": lb.Safe, "client-clock:drift": lb.Broken}},
		{"node", "", "./mylock.js", "2", "1s", "1s", map[string]lb.Outcome{"none": lb.Safe, "pause-holder+": lb.Check, "client-clock:drift": lb.Broken}},
		// Each of its requests starts some programs: that takes its time on a machine that is busy.
		{"shell", "", "./mylock.sh", "1", "3s", "12s", map[string]lb.Outcome{"none+": lb.Safe, "pause-holder": lb.Broken, "kill-holder+": lb.Safe}},
		{"java", "javac Lockbench.java MyLock.java && ", "java -XX:-UsePerfData -cp . MyLock", "2", "1s", "1s", map[string]lb.Outcome{"none": lb.Safe, "pause-holder+": lb.Check, "client-clock:drift": lb.Broken}},
	} {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			places := 2
			if c.language == "shell" {
				places = 4
			}
			testkit.Share(t, places)
			dir := t.TempDir()
			at := filepath.Join(dir, c.language)
			if code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "template", c.language, at)); code != exitKept || !strings.Contains(stderr, "run --exec") {
				t.Fatalf("template: exit code %d: %s", code, stderr)
			}
			if c.build != "" {
				build := testkit.Command(t, at)
				build.Path, build.Args = "/bin/sh", []string{"sh", "-c", c.build + "true"}
				if code, _, stderr := testkit.Ran(t, build); code != 0 {
					t.Fatal(stderr)
				}
			}
			wants := today(c.want)
			faults := slices.Sorted(maps.Keys(wants))
			cmd := testkit.Command(t, at, "matrix", "--json", "--exec", c.exec, "--algorithms", "my-lock", "--faults", strings.Join(faults, ","), "--jobs", c.jobs, "--seed", "3",
				"--ttl", c.ttl, "--duration", c.duration, "--clients", "3", "--processes", "3", "--out", "m")
			cmd.Env = append(cmd.Env, "NODE_PATH=/usr/share/nodejs")
			got := cells(t, cmd, exitKept)
			for f, want := range wants {
				if c := got["my-lock × "+f]; c.Outcome != want {
					t.Errorf("%s: %s, want %s: %s (%s)", f, c.Outcome, want, c.Reason, c.Effect)
				}
			}
			if c.language == "python" {
				afterwards(t, at)
			}
		})
	}
}

// afterwards: whoever has the directory of runs of a program has its name, and how to do them
// again. Its orders are walked through the protocol, and those of one that takes what others
// hold break it.
func afterwards(t *testing.T, dir string) {
	t.Helper()
	code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "matrix", "--resume", "m", "--json"))
	if code != exitKept || !strings.Contains(stdout, `"my-lock"`) {
		t.Errorf("resume: exit code %d: %s%s", code, stdout, stderr)
	}
	all := []string{"--exec", "./mylock.py", "--acquisitions", "1", "--crashes", "0", "--lost", "0"}
	want := "breaks it: every order"
	if !testkit.All() { // what only the later orders of all break is found a day later
		all, want = append(all, "--budget", "8"), "none of these"
	}
	if out := explored(t, dir, exitKept, all...); !strings.Contains(out, want) {
		t.Errorf("explore: %s", out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "mylock.py"))
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, "taker.py"), bytes.Replace(text, []byte("nx=True"), []byte("nx=False"), 1), 0o755)); err != nil {
		t.Fatal(err)
	}
	if out := explored(t, dir, exitBroke, "--exec", "./taker.py", "--acquisitions", "1", "--faults", "0", "--budget", "2"); !strings.Contains(out, "BROKEN by ") {
		t.Errorf("explore, of one that takes what others hold: %s", out)
	}
	// A fault strikes it within its call, as the gate knows from the first request of that.
	code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "run", "--exec", "./mylock.py", "--fault", "pause@releasing", "--duration", "1s", "--seed", "3", "--out", "entered"))
	if code != exitKept || !strings.Contains(stderr, " stood at releasing ") {
		t.Errorf("pause@releasing: exit code %d: %s%s", code, stdout, stderr)
	}
	// What it says by another name is no request of which anything is known.
	if err := os.WriteFile(filepath.Join(dir, "misnamed.py"), bytes.Replace(text, []byte(`"eval"]`), []byte(`"evalsha"]`), 1), 0o755); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr = testkit.Ran(t, testkit.Command(t, dir, "run", "--exec", "./misnamed.py", "--fault", "none", "--duration", "1s", "--seed", "3", "--out", "misnamed"))
	if code != exitUndecided || !strings.Contains(stdout, " releases, and for ") || !strings.Contains(stdout, "the program sent eval, which it does not name") {
		t.Errorf("a program of which half is misnamed: exit code %d: %s%s", code, stdout, stderr)
	}
	// It promises nothing: what may come of it is for who runs it to say.
	for require, want := range map[string]int{"": exitKept, "FENCE": exitBroke} {
		args := []string{"run", "--exec", "./taker.py", "--fault", "none", "--duration", "1s", "--seed", "3", "--out", "taker" + require}
		if require != "" {
			args = append(args, "--require", require)
		}
		if code, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, args...)); code != want || !strings.Contains(stdout, "BROKEN") {
			t.Errorf("--require %q: exit code %d, want %d: %s%s", require, code, want, stdout, stderr)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "m", "report.html"))
	if err != nil || !strings.Contains(string(page), "&amp;&amp; ./mylock.py") {
		t.Errorf("the page does not name the program: %v", err)
	}
}

// brokenProgram is a lock in Python that does the one thing wrong which its argument names, for a parallel test
// with a lab of its own.
func brokenProgram(t *testing.T) string {
	t.Helper()
	t.Parallel()
	needLab(t, 1)
	languagesAreHere(t)
	path, err := filepath.Abs("../impls/foreign/testdata/broken.py")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBrokenProgram is a finding about the program, in one line, and no verdict of its lock.
func TestBrokenProgram(t *testing.T) {
	dir, broken := t.TempDir(), brokenProgram(t)
	for _, c := range []struct{ wrong, fault, told string }{
		{"exits", "none", "exits ended before it answered acquire "},
		{"answers-after-cancel", "none", `twice, the second time with {"n": `},
		{"garbage", "pause-holder", `garbage printed "Traceback: something of a library's" on standard output`},
	} {
		begin := time.Now()
		code, _, stderr := testkit.Ran(t, testkit.Command(t, dir, "run", "--exec", broken+" "+c.wrong, "--fault", c.fault, "--duration", "3s", "--out", c.wrong))
		var told []string
		for line := range strings.Lines(stderr) {
			if strings.Contains(line, "the program did wrong") {
				told = append(told, line)
			}
		}
		if code != exitUndecided || len(told) != 1 || !strings.Contains(told[0], c.told) {
			t.Errorf("%s: exit code %d, told %q, want %q in one line", c.wrong, code, told, c.told)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%s took %v", c.wrong, took)
		}
		run, err := rundir.OpenRun(filepath.Join(dir, c.wrong))
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Blamed(); !errors.Is(err, rundir.ErrProgram) {
			t.Errorf("%s: the directory says %v", c.wrong, err)
		}
		if code, stdout, _ := testkit.Ran(t, testkit.Command(t, dir, "check", c.wrong)); code != exitUndecided || !strings.Contains(stdout, "INCONCLUSIVE") {
			t.Errorf("%s: check ended with %d: %s", c.wrong, code, stdout)
		}
	}
}

// TestProgramLeaks: what a program keeps open of each acquisition is told, though it hurts nobody.
func TestProgramLeaks(t *testing.T) {
	dir, broken := t.TempDir(), brokenProgram(t)
	for wrong, leaks := range map[string]bool{"": false, "leaks": true} {
		_, stdout, stderr := testkit.Ran(t, testkit.Command(t, dir, "run", "--exec", broken+" "+wrong, "--fault", "none", "--duration", "2s", "--out", "run-"+wrong))
		if told := strings.Contains(stdout, "open files at w"); told != leaks {
			t.Errorf("%q: told of open files %v, want %v: %s%s", wrong, told, leaks, stdout, stderr)
		}
	}
}

// TestConform tells which claims hold, a line each: of a library's lock all, and of one whose DEL
// looks at no owner those that it breaks.
func TestConform(t *testing.T) {
	broken := brokenProgram(t)
	for _, c := range []struct {
		how  []string
		code int
		want string
	}{
		{[]string{"--algorithm", "peer-redis-py"}, exitKept, " 0 deviate as declared, 0 failed\n"},
		{[]string{"--exec", broken}, exitBroke, "\nFAIL foreign-release "},
	} {
		code, stdout, stderr := testkit.Ran(t, testkit.Command(t, t.TempDir(), append([]string{"conform"}, c.how...)...))
		if code != c.code || !strings.Contains("\n"+stdout, c.want) || !strings.Contains(stdout, "\nok   round-trips ") {
			t.Errorf("%v: exit code %d, want %d and %q: %s%s", c.how, code, c.code, c.want, stdout, stderr)
		}
	}
}

// TestWithOwn: a program is never left out because others are named.
func TestWithOwn(t *testing.T) {
	own := &history.Exec{Name: "mine"}
	for names, want := range map[string]string{"*": "mine", "redis-*": "redis-*,mine", "mine": "mine,mine"} { // twice is once: see pick
		if got := withOwn(names, own); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
	if got := withOwn("redis-*", nil); got != "redis-*" {
		t.Errorf("without a program: %s", got)
	}
}
