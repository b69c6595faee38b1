package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/docker"
	"github.com/lockbench/lockbench/internal/shell"
	"github.com/lockbench/lockbench/internal/testkit"
)

// images are those of all servers.
func images() (all []string) {
	for _, t := range backends.Topologies() {
		if image := t.Kind.Image; image != "" && !slices.Contains(all, image) {
			all = append(all, image)
		}
	}
	return all
}

// dataInMemory is where the services that the tests don't start again have their data, and the engine keeps nothing
// that they say. Whoever writes to its layers, or its log, waits for all that the other tests write, for seconds.
const dataInMemory = `services:
  etcd1: {tmpfs: [/data], logging: {driver: none}}
  etcd2: {tmpfs: [/data], logging: {driver: none}}
  etcd3: {tmpfs: [/data], logging: {driver: none}}
  zookeeper: {tmpfs: [/tmp], logging: {driver: none}}
  mariadb: {tmpfs: [/tmp], logging: {driver: none}}
  postgres: {tmpfs: [/tmp], logging: {driver: none}}
`

// composed starts services of docker/compose.yaml for the time of the test, and returns the
// command that does more with them.
func composed(t *testing.T, profiles ...string) (command string) {
	t.Helper()
	tool := []string{"docker", "compose"}
	if _, err := exec.LookPath("docker-compose"); err == nil {
		tool = []string{"docker-compose"}
	} else if err := exec.Command("docker", "compose", "version").Run(); err != nil {
		testkit.Need(t, "docker compose", fmt.Errorf("%w: make compose installs it", err))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	env := os.Environ()
	for _, of := range images() {
		image, err := docker.Image(ctx, of)
		testkit.Need(t, "a container engine with images", err)
		kind, _, _ := strings.Cut(of, "=")
		env = append(env, "LOCKBENCH_IMAGE_"+strings.ToUpper(kind)+"="+image)
	}
	env = append(env, "COMPOSE_HTTP_TIMEOUT=300") // an engine on a busy machine takes its time
	file, err := filepath.Abs("../docker/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	memory := filepath.Join(t.TempDir(), "memory.yaml")
	if err := os.WriteFile(memory, []byte(dataInMemory), 0o600); err != nil {
		t.Fatal(err)
	}
	tool = append(tool, "-p", "lockbench-test", "-f", file, "-f", memory)
	for _, p := range profiles {
		tool = append(tool, "--profile", p)
	}
	compose := func(args ...string) ([]byte, error) {
		cmd := exec.Command(tool[0], append(tool[1:len(tool):len(tool)], args...)...)
		cmd.Env = env
		return cmd.CombinedOutput()
	}
	t.Cleanup(func() {
		if out, err := compose("down", "-v", "-t", "0"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	if out, err := compose("up", "-d"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return shell.Line(tool...)
}

// askAlong asks each server again and again, past lockbench, until it is asked how long one of them answered nobody. An
// etcd that has no leader says so with another status than 200. An engine's container stands still for seconds on some busy machines, and of
// a lock that says nothing.
func askAlong(addrs, ask string) (silent func() time.Duration) {
	over, longest := make(chan struct{}), make(chan time.Duration)
	all := strings.Split(addrs, ",")
	if _, _, err := net.SplitHostPort(all[0]); err != nil { // a file of several
		all = nil
	}
	for _, addr := range all {
		go func() {
			var most time.Duration
			for last := time.Now(); ; time.Sleep(100 * time.Millisecond) {
				answered := answers(addr, ask)
				if most = max(most, time.Since(last)); answered {
					last = time.Now()
				}
				select {
				case <-over:
					longest <- most
					return
				default:
				}
			}
		}()
	}
	return func() (most time.Duration) {
		close(over)
		for range all {
			most = max(most, <-longest)
		}
		return most
	}
}

func answers(addr, ask string) bool {
	const patience = 5 * time.Second
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	answer := make([]byte, 15)
	_, sendErr := io.WriteString(c, ask)
	n, err := io.ReadAtLeast(c, answer, 1)
	said := string(answer[:n])
	return err == nil && sendErr == nil && (!strings.HasPrefix(said, "HTTP/") || strings.Contains(said, " 200"))
}

// TestComposed uses services that somebody has started with docker/compose.yaml. Behind
// Sentinels clients follow the master, as to a server of their own lab.
func TestComposed(t *testing.T) {
	t.Parallel()
	needLab(t, 4)
	compose := composed(t, "redis-sentinel", "etcd-3", "zookeeper", "mariadb", "postgres", "memcached")
	dir := t.TempDir()
	sentinels := filepath.Join(dir, "sentinel.yaml")
	if err := os.WriteFile(sentinels, fmt.Appendf(nil, `servers: [198.18.90.101:6379, 198.18.90.102:6379, 198.18.90.103:6379]
sentinels: [198.18.90.104:26379, 198.18.90.105:26379, 198.18.90.106:26379]
master: lockbench
commands:
  failover: {do: "%[1]s kill redis-master && echo killed", undo: "%[1]s start redis-master"}
`, compose), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ algorithm, fault, addrs, ask string }{
		{"etcd-lease", "cut-holder", "127.0.0.1:12381,127.0.0.1:12382,127.0.0.1:12383", "GET /health HTTP/1.0\r\n\r\n"},
		{"zk-sequential", "none", "127.0.0.1:12181", "srvr"},
		{"mysql-forupdate", "none", "127.0.0.1:13306", ""},                                    // it greets
		{"postgres-forupdate", "none", "127.0.0.1:15432", "\x00\x00\x00\x08\x04\xd2\x16\x2f"}, // may it be TLS?
		{"memcached-add-cas", "none", "127.0.0.1:21211", "version\r\n"},
		{"redis-setpx-lua", "failover", sentinels, ""}, // which is down for a while
	} {
		var c checker.Cell
		tries := 1
		for start := time.Now(); ; time.Sleep(time.Second) { // until the server answers
			silent := askAlong(tc.addrs, tc.ask)
			cmd := testkit.Command(t, dir, "run", "--json", "--algorithm", tc.algorithm, "--fault", tc.fault, "--addrs", tc.addrs, "--duration", "500ms",
				"--ttl", "4.3s", // long enough for services that have just begun on a busy machine
				"--yes") // a try before this one perhaps did not take back its mark, when the service stood still; nobody else uses it
			code, stdout, stderr := testkit.Ran(t, cmd)
			if code == exitCantRun && time.Since(start) < time.Minute {
				continue
			}
			if stood := silent(); code != exitKept && stood > time.Second && tries < 4 {
				t.Logf("%s × %s: %d, while the service itself answered nobody for %v; again", tc.algorithm, tc.fault, code, stood)
				tries++
				continue
			}
			if code != exitKept {
				t.Fatalf("%s × %s: %d\n%s%s", tc.algorithm, tc.fault, code, stdout, stderr)
			}
			c = byCell(t, stdout)[tc.algorithm+" × "+tc.fault]
			break
		}
		switch {
		case tc.fault == "none" && c.Outcome != lb.Safe, c.Outcome == lb.Inconclusive:
			t.Errorf("%s × %s: %s, %s", tc.algorithm, tc.fault, c.Outcome, c.Reason)
		case tc.fault == "failover" && !strings.Contains(c.Effect, "killed"):
			t.Errorf("failover: %s", c.Effect)
		}
	}
}
