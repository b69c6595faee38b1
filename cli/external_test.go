package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
)

const theirSecret = "correct-horse-battery"

// theirRedis is a server by somebody else, who wants TLS and a password, and keeps something
// there.
func theirRedis(t *testing.T) (addrs string, client *redis.Client, pid int) {
	t.Helper()
	certs := labtest.NewCerts(t)
	server := labtest.Start(t, lab.Program{Port: 6379, Ready: lab.Listening,
		Argv: []string{"redis-server", "--bind", "{addr}", "--port", "0", "--tls-port", "{port}", "--tls-cert-file", certs.Cert, "--tls-key-file", certs.Key,
			"--tls-ca-cert-file", certs.CA, "--tls-auth-clients", "no", "--requirepass", theirSecret, "--save", "", "--dir", "{dir}",
			"--unixsocket", "{dir}/socket"}})
	pid = server.(*lab.Child).Pid()
	file := filepath.Join(t.TempDir(), "lab.yaml")
	text := fmt.Sprintf(`servers: [%s]
tls: {ca: %s, server-name: %s}
commands:
  kill-server: {do: "true"}
  slow-server: {do: "kill -STOP %d && echo stopped", undo: "kill -CONT %d"}
  failover: {do: "echo no such host; exit 3"}
`, server.Endpoint(), certs.CA, labtest.CertName, pid, pid)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at, err := filepath.Glob(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || len(at) != 1 {
		t.Fatalf("%v %v", at, err)
	}
	client = redis.NewClient(&redis.Options{Network: "unix", Addr: at[0] + "/socket", Password: theirSecret})
	t.Cleanup(func() { client.Close() })
	if err := client.Set(t.Context(), "theirs", "untouched", 0).Err(); err != nil {
		t.Fatal(err)
	}
	return file, client, pid
}

// TestExternal uses a server that somebody else runs: workloads, faults of the clients' side,
// faults by command, and the benchmark. Nothing of it is left there, and no secret here.
func TestExternal(t *testing.T) {
	t.Parallel()
	needLab(t, 2)
	addrs, server, _ := theirRedis(t)
	dir := t.TempDir()
	theirs := func(args ...string) *exec.Cmd {
		cmd := testkit.Command(t, dir, append(args, "--addrs", addrs)...)
		cmd.Env = append(cmd.Env, "LOCKBENCH_PASSWORD="+theirSecret)
		return cmd
	}
	got := cells(t, theirs("matrix", "--json", "--algorithms", "redis-setpx-lua,peer-rueidislock", "--faults", "none,cut-holder,slow-server,flushall",
		"--ttl", "500ms", "--out", "m"), exitKept)
	for cell, want := range map[string]lb.Outcome{
		"redis-setpx-lua × none": lb.Safe, "redis-setpx-lua × cut-holder": lb.Check, "redis-setpx-lua × flushall": lb.NotAvailable, "peer-rueidislock × none": lb.Safe,
	} {
		if c := got[cell]; c.Outcome != want {
			t.Errorf("%s: %s, want %s: %s", cell, c.Outcome, want, c.Reason)
		}
	}
	for _, one := range []string{"redis-setpx-lua", "peer-rueidislock"} { // whatever it is to them, it has struck
		if c := got[one+" × slow-server"]; c.Runs != 1 || !strings.Contains(c.Effect, "did not answer for") {
			t.Errorf("%s × slow-server: %s: %s", one, c.Outcome, c.Reason)
		}
	}
	cells(t, theirs("run", "--json", "--algorithm", "redis-fenced", "--workload", "stock", "--ttl", "500ms", "--out", "stock"), exitKept)
	nothing := cells(t, theirs("run", "--json", "--algorithm", "redis-fenced", "--fault", "kill-server", "--ttl", "500ms", "--out", "nothing"), exitUndecided)
	if c := nothing["redis-fenced × kill-server"]; c.Outcome != lb.Inconclusive {
		t.Errorf("a command that does nothing: %s, %s", c.Outcome, c.Effect)
	}
	if code, _, stderr := testkit.Ran(t, theirs("run", "--algorithm", "redis-fenced", "--fault", "failover", "--ttl", "500ms", "--out", "bad")); code != exitUndecided || !strings.Contains(stderr, "no such host") {
		t.Errorf("a command that fails: %d\n%s", code, stderr)
	}
	code, stdout, stderr := testkit.Ran(t, theirs("bench", "--json", "--short", "--algorithms", "redis-setpx-lua", "--rounds", "2", "--budget", "5s", "--ttl", "500ms", "--out", "b"))
	var b cost.Bench
	if err := json.Unmarshal([]byte(stdout), &b); err != nil || code != exitKept || b.Figure(cost.Uncontended("redis-setpx-lua", cost.Given), cost.Cycle) == nil {
		t.Errorf("%d, %v\n%s", code, err, stderr)
	}
	if keys := server.Keys(t.Context(), "*").Val(); len(keys) != 1 || keys[0] != "theirs" {
		t.Errorf("what is there is %v", keys)
	}
	noSecret(t, dir)
}

// noSecret looks for it in all that was written.
func noSecret(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(theirSecret)) {
			t.Errorf("%s has the password", path)
		}
		return err
	})
	if err != nil || files < 20 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestExternalRefused: what can't work ends at once, with 4 or 64, and says what to do.
func TestExternalRefused(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	addrs, server, _ := theirRedis(t)
	if err := server.Set(t.Context(), "lockbench:left", "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		code  int
		says  string
		env   string
		flags []string
	}{
		{exitCantRun, "LOCKBENCH_PASSWORD", "wrong", []string{"--addrs", addrs}},
		{exitCantRun, "--yes removes it", theirSecret, []string{"--addrs", addrs}},
		{exitCantRun, "connection refused", "", []string{"--addrs", "127.0.0.1:1"}},
		{exitUsage, "HOST:PORT", "", []string{"--addrs", "127.0.0.1"}},
		{exitUsage, "without --addrs", "", []string{"--lab", "external"}},
		{exitUsage, "leave out --addrs", "", []string{"--lab", "docker", "--addrs", "127.0.0.1:1"}},
		{exitUsage, "2 servers", "", []string{"--addrs", "127.0.0.1:1,127.0.0.1:2"}},
		{exitUsage, "kill-leader", theirSecret, []string{"--addrs", addrs, "--fault", "kill-leader"}},
		{exitUsage, "--server-option", theirSecret, []string{"--addrs", addrs, "--server-option", "a=b"}},
		{exitUsage, "--store", theirSecret, []string{"--addrs", addrs, "--store", "redis"}},
	} {
		cmd := testkit.Command(t, t.TempDir(), append([]string{"run", "--algorithm", "redis-setpx-lua"}, tc.flags...)...)
		cmd.Env = append(cmd.Env, "LOCKBENCH_PASSWORD="+tc.env)
		code, _, stderr := testkit.Ran(t, cmd)
		if line := strings.TrimSpace(stderr); code != tc.code || !strings.Contains(line, tc.says) || strings.Contains(line, "\n") {
			t.Errorf("%v: %d, want %d with %q:\n%s", tc.flags, code, tc.code, tc.says, stderr)
		}
	}
	if n := server.DBSize(t.Context()).Val(); n != 2 {
		t.Errorf("%d keys are there", n)
	}
	cmd := testkit.Command(t, t.TempDir(), "run", "--algorithm", "redis-setpx-lua", "--addrs", addrs, "--yes", "--duration", "1s")
	cmd.Env = append(cmd.Env, "LOCKBENCH_PASSWORD="+theirSecret)
	if code, _, stderr := testkit.Ran(t, cmd); code != exitKept {
		t.Errorf("%d\n%s", code, stderr)
	}
	if keys := server.Keys(t.Context(), "*").Val(); len(keys) != 1 {
		t.Errorf("what is left: %v", keys)
	}
}
