package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
)

// labIsReady looks once for all tests.
var labIsReady = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var kinds []lab.Kind
	for _, topology := range backends.Topologies() {
		if topology.Kind.Make == "" { // else it is an install of its own, which no test here needs
			kinds = append(kinds, topology.Kind)
		}
	}
	return lab.Local().Ready(ctx, kinds)
})

// needLab skips, or in CI fails, where the local lab or a server is missing. It takes so many
// of the machine's places, or none: see [testkit.Share].
func needLab(t *testing.T, places int) {
	t.Helper()
	testkit.Need(t, "the local lab with all servers", labIsReady())
	if places > 0 {
		testkit.Share(t, places)
	}
}

// small is a command whose runs are shorter, with fewer clients; make test-all has them as long
// as users have.
func small(args ...string) []string {
	if !testkit.All() {
		args = append(args, "--duration", "1s", "--clients", "4", "--processes", "2")
	}
	return args
}

// cells runs cmd, which must end with the exit code, and returns its --json.
func cells(t *testing.T, cmd *exec.Cmd, code int) map[string]checker.Cell {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%v: exit code %d, want %d\n%s%s", cmd.Args[1:], got, code, &out, &errOut)
	}
	return byCell(t, out.String())
}

// byCell is the one object that --json has printed, by cell.
func byCell(t *testing.T, out string) map[string]checker.Cell {
	t.Helper()
	var file rundir.MatrixFile
	dec := json.NewDecoder(strings.NewReader(out))
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Fatalf("more than one object on standard output: %v", err)
	}
	byName := map[string]checker.Cell{}
	for _, c := range file.Cells {
		byName[c.Algorithm+" × "+c.Fault] = c
	}
	return byName
}

// TestMatrix is the whole matrix on real servers: the locks that are known to
// break are caught by the mechanism that breaks them, and the others are not.
func TestMatrix(t *testing.T) {
	t.Parallel()
	needLab(t, 4)
	dir := t.TempDir()
	got := cells(t, testkit.Command(t, dir, small("matrix", "--json", "--out", "m",
		"--algorithms", "none,redis-setnx-expire,redis-setpx-del,redis-setpx-lua,redis-fenced,etcd-lease",
		"--faults", "none,pause-holder,kill-holder,cut-holder,kill@after-setnx,pause@before-write", "--jobs", "4")...), exitKept)
	for name, want := range map[string]struct {
		outcome lb.Outcome
		reason  string
	}{
		"none × none":                           {lb.Broken, lb.DoubleGrant},
		"redis-setnx-expire × none":             {lb.Safe, ""},
		"redis-setnx-expire × kill@after-setnx": {lb.Stuck, lb.Ghost},
		"redis-setpx-del × pause-holder":        {lb.Broken, lb.DoubleGrant},
		"redis-setpx-lua × none":                {lb.Safe, ""},
		"redis-setpx-lua × kill-holder":         {lb.Safe, ""},
		"redis-setpx-lua × pause-holder":        {lb.Check, lb.Overstay},
		"redis-setpx-lua × pause@before-write":  {lb.Broken, lb.Overstay},
		"redis-fenced × none":                   {lb.Safe, ""},
		"redis-fenced × kill-holder":            {lb.Safe, ""},
		"redis-fenced × pause@before-write":     {lb.Fence, lb.Overstay},
		"etcd-lease × none":                     {lb.Safe, ""},
		"etcd-lease × kill-holder":              {lb.Safe, ""},
		"etcd-lease × cut-holder":               {lb.Check, lb.Overstay},
		"etcd-lease × pause@before-write":       {lb.Fence, lb.Overstay},
	} {
		c := got[name]
		if c.Outcome != want.outcome || !strings.HasPrefix(c.Reason, want.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, c.Outcome, c.Reason, want.outcome, want.reason)
		}
	}
	for _, name := range []string{"redis-fenced × pause@before-write", "etcd-lease × pause@before-write"} {
		c := got[name].Copies
		if c["plain"].Lost == 0 || c["checked"].Lost == 0 || c["fenced"].Lost != 0 || c["fenced"].Refused == 0 {
			t.Errorf("%s: copies %+v: the late write must spoil plain and checked and be refused by fenced", name, c)
		}
	}
	for _, name := range []string{"redis-setpx-lua × kill-holder", "redis-fenced × kill-holder", "etcd-lease × kill-holder"} {
		// What is left of one TTL of 1.3 s: a busy machine lets the holder be killed some time
		// after its lease began. etcd counts whole seconds, and looks for ended leases twice in each.
		if ms := got[name].OutageMS; ms < 700 || ms > 3000 {
			t.Errorf("%s: outage of %.0f ms after a kill, want about one TTL of 1300 ms", name, ms)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "m", "report.html")); err != nil {
		t.Error(err)
	}
	tidy(t, filepath.Join(dir, "m"))
	again := testkit.Command(t, dir, "check", got["redis-fenced × none"].Dir)
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("check of a recorded safe run: %v\n%s", err, out)
	}
}

// TestContainers runs one lock of each kind of servers in containers: the same locks, faults
// and checkers, and the same promises.
func TestContainers(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 5) // two labs at a time, each with some seven containers
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	testkit.Need(t, "Docker and the images of all servers", docker.Check(ctx, images()...))
	const locks = "redis-setpx-lua,etcd-lease,zk-sequential,mysql-insert-ttl,postgres-insert"
	got := cells(t, testkit.Command(t, t.TempDir(), "matrix", "--json", "--lab", "docker", "--algorithms", locks,
		"--faults", "cut-holder,server-clock", "--jobs", "2"), exitKept)
	for name, want := range map[string]lb.Outcome{
		"redis-setpx-lua × server-clock":  lb.Broken,
		"etcd-lease × server-clock":       lb.NotAvailable,
		"zk-sequential × server-clock":    lb.Safe,
		"mysql-insert-ttl × server-clock": lb.Broken,
	} {
		if got[name].Outcome != want {
			t.Errorf("%s: %s (%s), want %s", name, got[name].Outcome, got[name].Reason, want)
		}
	}
	if c := got["postgres-insert × server-clock"]; c.Outcome != lb.Fence && c.Outcome != lb.Stuck {
		t.Errorf("postgres-insert × server-clock: %s (%s)", c.Outcome, c.Reason)
	}
	for _, lock := range strings.Split(locks, ",") {
		if c, ok := got[lock+" × cut-holder"]; !ok || c.Outcome == lb.NotAvailable || c.Outcome == lb.Inconclusive {
			t.Errorf("%s × cut-holder: %s (%s)", lock, c.Outcome, c.Reason)
		}
	}
}

// TestBehindAProxy: the servers of a lab are no business of the proxy that a machine's environment
// names, which knows no way to them. Libraries of etcd would ask it.
func TestBehindAProxy(t *testing.T) {
	needLab(t, 0)
	languagesAreHere(t)
	t.Parallel()
	testkit.Share(t, 2)
	cmd := testkit.Command(t, t.TempDir(), small("matrix", "--json", "--algorithms", "etcd-lease,peer-python-etcd3", "--faults", "none", "--jobs", "2")...)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		cmd.Env = append(cmd.Env, name+"=http://127.0.0.1:1")
	}
	cmd.Env = append(cmd.Env, "NO_PROXY=", "no_proxy=") // which could name a lab's addresses
	got := cells(t, cmd, exitKept)
	for _, lock := range []string{"etcd-lease", "peer-python-etcd3"} {
		if c := got[lock+" × none"]; c.Outcome != lb.Safe {
			t.Errorf("%s: %s (%s)", lock, c.Outcome, c.Reason)
		}
	}
}

// TestUnprivileged runs in a user namespace, as a user who may do nothing else.
func TestUnprivileged(t *testing.T) {
	needLab(t, 0)
	if os.Geteuid() != 0 {
		return // then every other test is this one, too
	}
	t.Parallel()
	testkit.Share(t, 2)
	const nobody = 65534
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, work := filepath.Join(dir, "lockbench"), filepath.Join(dir, "work")
	text, err := os.ReadFile(self) // the test's own directory is closed to others
	if err = errors.Join(err, os.WriteFile(program, text, 0o755), os.Mkdir(work, 0o755), os.Chown(work, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	as := func(args ...string) *exec.Cmd {
		cmd := testkit.Command(t, work, args...)
		cmd.Path, cmd.Args[0] = program, program
		cmd.Env = append(cmd.Env, "HOME=/nonexistent")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return cmd
	}
	if out, err := as("doctor").CombinedOutput(); err != nil {
		testkit.Need(t, "user namespaces for unprivileged users", fmt.Errorf("%w: %s", err, out))
	}
	got := cells(t, as(small("matrix", "--json", "--algorithms", "none,redis-fenced,etcd-lease", "--faults", "none,cut-holder,pause@before-write",
		"--jobs", "2")...), exitKept)
	for name, want := range map[string]lb.Outcome{
		"none × none":                     lb.Broken,
		"redis-fenced × none":             lb.Safe,
		"redis-fenced × cut-holder":       lb.Check,
		"etcd-lease × pause@before-write": lb.Fence,
	} {
		if got[name].Outcome != want {
			t.Errorf("%s: %s (%s), want %s", name, got[name].Outcome, got[name].Reason, want)
		}
	}
}

// TestKilled kills lockbench at random moments: nothing may be left behind, and
// what was recorded until then must be readable.
func TestKilled(t *testing.T) {
	t.Parallel()
	needLab(t, 0)
	for lane, algorithm := range []string{"redis-setpx-lua", "etcd-lease", "redis-setpx-lua", "etcd-lease"} {
		t.Run(fmt.Sprint(lane, " ", algorithm), func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, 1)
			killed(t, algorithm, uint64(lane))
		})
	}
}

func killed(t *testing.T, algorithm string, lane uint64) {
	t.Helper()
	dir, mine := t.TempDir(), fmt.Sprint("LOCKBENCH_TEST_KILLED=", t.Name())
	own := newMachine(t)
	before := own.state(t, mine)
	const seed, times = 7, 5
	rnd, begun := rand.New(rand.NewPCG(seed, lane)), 0
	for n := range times {
		out := fmt.Sprintf("r%d", n)
		cmd := own.command(testkit.Command(t, dir, "run", "--algorithm", algorithm, "--fault", "pause-holder", "--out", out))
		cmd.Env = append(os.Environ(), mine)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if n%2 == 1 { // else it may not have begun on a busy machine
			testkit.Eventually(t, time.Minute, func() error {
				if files, _ := filepath.Glob(filepath.Join(dir, out, "events", "w*.jsonl")); len(files) == 0 {
					return fs.ErrNotExist
				}
				return nil
			})
		}
		time.Sleep(time.Duration(rnd.Int64N(int64(3 * time.Second))))
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		testkit.Eventually(t, 5*time.Second, func() error { return before.nothingMore(own.state(t, mine)) })
		if files, _ := filepath.Glob(filepath.Join(dir, out, "events", "*.jsonl")); len(files) == 0 {
			continue // killed before anything was recorded
		}
		begun++
		check := testkit.Command(t, dir, "check", out)
		if text, err := check.CombinedOutput(); check.ProcessState.ExitCode() > exitUndecided {
			t.Errorf("check of a killed run: %v\n%s", err, text)
		}
	}
	if begun == 0 {
		t.Errorf("each of %d kills came before anything was recorded", times)
	}
}

// TestKilledInContainers: nothing of a lab in containers runs on when lockbench is killed,
// and what the engine keeps of it, clean removes.
func TestKilledInContainers(t *testing.T) {
	testkit.Need(t, "Docker and the images of all servers", docker.Check(t.Context(), images()...))
	t.Parallel()
	testkit.Only(t, "clean") // which removes what others have left, too
	testkit.Share(t, 2)
	const mine = "LOCKBENCH_TEST_KILLED=in containers"
	dir := t.TempDir()
	cmd := testkit.Command(t, dir, "run", "--lab", "docker", "--algorithm", "redis-setpx-lua", "--fault", "pause-holder", "--duration", "30s", "--out", "r")
	cmd.Env = append(os.Environ(), mine)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 3*time.Minute, func() error { // until clients work: containers take their time on a busy machine
		if files, _ := filepath.Glob(filepath.Join(dir, "r", "events", "w*.jsonl")); len(files) == 0 {
			return errors.New("no client has worked yet")
		}
		return nil
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	removed, err := docker.Clean(t.Context())
	if err != nil {
		t.Log(err) // of a lab that isn't this test's: whether its own has gone, is asked next
	}
	for _, what := range []string{"container ", "network "} {
		if !slices.ContainsFunc(removed, func(s string) bool { return strings.HasPrefix(s, what) }) {
			t.Errorf("a lab that was killed has left only %q, and no %s", removed, what)
		}
	}
	if again, _ := docker.Clean(t.Context()); len(again) > 0 {
		t.Errorf("clean has left %q", again)
	}
	testkit.Eventually(t, 5*time.Second, func() error {
		if left := (machine{}).state(t, mine)["processes"]; len(left) > 0 { // others' interfaces and mounts come and go
			return fmt.Errorf("processes that live on: %q", left)
		}
		return nil
	})
}

// machine is what a lab could leave something behind on. The zero machine is this one.
type machine struct {
	enter []string // the command that enters it
	pid   int
}

// newMachine has interfaces and mounts of its own, for the time of the test: other tests
// change this one's.
func newMachine(t *testing.T) machine {
	t.Helper()
	into := []string{"--net", "--mount"}
	more := []string{}
	if os.Geteuid() != 0 {
		more = []string{"--user"}
		into = append(into, "--user", "--map-root-user")
	}
	holder := exec.Command("unshare", append(into, "sh", "-c",
		// Nothing of what others mount comes here or goes; mounts of its own labs would be seen.
		"mount --make-rprivate / && mount --make-rshared / && exec cat")...)
	stdin, err := holder.StdinPipe()
	if err == nil {
		err = holder.Start()
	}
	if err != nil {
		testkit.Need(t, "namespaces", err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = holder.Wait() })
	pid := holder.Process.Pid
	testkit.Eventually(t, 10*time.Second, func() error { // until it has left ours
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err != nil || string(name) != "cat\n" {
			return fmt.Errorf("no namespaces: %s, %v", name, err)
		}
		return nil
	})
	return machine{append([]string{"nsenter", "--target", strconv.Itoa(pid), "--net", "--mount", "--preserve-credentials"}, more...), pid}
}

// command is cmd there.
func (m machine) command(cmd *exec.Cmd) *exec.Cmd {
	cd := []string{"sh", "-c", `cd "$0" && exec "$@"`, cmd.Dir}
	return exec.Command(m.enter[0], slices.Concat(m.enter[1:], cd, cmd.Args)...)
}

// state is what a lab could leave behind on a machine.
type state map[string][]string

// state tells of processes those that have the variable in their environment.
func (m machine) state(t *testing.T, variable string) state {
	t.Helper()
	s := state{}
	procs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range procs { // others may run lockbench on this machine, too
		if text, _ := os.ReadFile(p); slices.Contains(strings.Split(string(text), "\x00"), variable) { // it may have ended meanwhile
			s["processes"] = append(s["processes"], filepath.Dir(p))
		}
	}
	proc := "/proc/self"
	if m.pid != 0 {
		proc = fmt.Sprintf("/proc/%d", m.pid)
	}
	for what, path := range map[string]string{"interfaces": proc + "/net/dev", "mounts": proc + "/mounts"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			s[what] = append(s[what], strings.Fields(line)[0])
		}
	}
	names, _ := filepath.Glob("/run/netns/*")
	s["network namespaces"] = names
	for what := range s {
		slices.Sort(s[what])
	}
	return s
}

// nothingMore reports what there is in o that was not in s. Something may be gone: a mount of
// another's container goes with its directory, in all namespaces.
func (s state) nothingMore(o state) error {
	for _, what := range []string{"processes", "interfaces", "mounts", "network namespaces"} {
		before := slices.Clone(s[what])
		for _, one := range o[what] {
			i := slices.Index(before, one)
			if i < 0 {
				return fmt.Errorf("%s: %q, before: %q", what, o[what], s[what])
			}
			before = slices.Delete(before, i, i+1)
		}
	}
	return nil
}
