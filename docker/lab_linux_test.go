package docker

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// redisImage is the image of Redis servers, as their kind names it.
const redisImage = "redis=redis:7"

func TestSignals(t *testing.T) {
	l := inside(t)
	if l == nil {
		return
	}
	h := newHost(t, l, "r1", redisImage)
	p := start(t, h, server())
	if p.Name() != "r1" || p.Endpoint() != h.Addr()+":6379" {
		t.Errorf("process %q, reached at %q", p.Name(), p.Endpoint())
	}
	c := dial(p.Endpoint()) // from before the pause, as a worker has it
	defer c.Close()
	for _, step := range []struct {
		sig     syscall.Signal
		answers bool
	}{{syscall.SIGCONT, true}, {syscall.SIGSTOP, false}, {syscall.SIGCONT, true}, {syscall.SIGKILL, false}} {
		if err := p.Signal(step.sig); err != nil {
			t.Fatal(err)
		}
		if err := answers(t, c); (err == nil) != step.answers {
			t.Errorf("after %v: %v", step.sig, err)
		}
	}
	if err := p.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("Wait: %v", err)
	}
	if err := p.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a signal to who has ended: %v", err)
	}
}

// A server that is started again has its disk, unless it is to be fresh.
func TestRestart(t *testing.T) {
	l := inside(t)
	if l == nil {
		return
	}
	h := newHost(t, l, "r1", redisImage)
	for i, want := range []int64{0, 1, 0} {
		program := server()
		program.Fresh = i == 2
		p := start(t, h, program)
		c := dial(p.Endpoint())
		if n, err := c.DBSize(t.Context()).Result(); n != want || err != nil {
			t.Errorf("start %d: it holds %d keys (%v), want %d", i, n, err, want)
		}
		if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		c.Close()
		if err := p.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = p.Wait()
	}
}

func TestPackets(t *testing.T) {
	l := inside(t)
	if l == nil {
		return
	}
	master := start(t, newHost(t, l, "master", redisImage), server())
	program := server()
	program.Argv = append(program.Argv, "--replicaof", master.Addr(), "6379", "--repl-timeout", "1", "--repl-ping-replica-period", "1")
	replica := start(t, newHost(t, l, "replica", redisImage), program)
	c := dial(replica.Endpoint())
	defer c.Close()
	link := func(want string) {
		t.Helper()
		var info string
		for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if info = c.Info(t.Context(), "replication").Val(); strings.Contains(info, "master_link_status:"+want) {
				return
			}
		}
		t.Fatalf("the replica's link is not %s: %s", want, info)
	}
	link("up")
	rule, err := l.Network().Drop([]lab.Node{master}, []lab.Node{replica}, 1)
	if err != nil {
		t.Fatal(err)
	}
	link("down")
	if n, err := rule.Packets(); n == 0 || err != nil {
		t.Errorf("%d packets were dropped, %v", n, err)
	}
	if err := rule.Remove(); err != nil {
		t.Fatal(err)
	}
	link("up")
	open, err := l.Network().Connections([]lab.Node{replica}, []lab.Node{master})
	if len(open) == 0 || err != nil {
		t.Errorf("%d connections, %v", len(open), err)
	}
	if counted, err := l.(lab.Meter).Traffic(); counted.Packets == 0 || err != nil {
		t.Errorf("of what this process has asked %d packets were counted, %v", counted.Packets, err)
	}
}

// An address moves from one host to another.
func TestAddress(t *testing.T) {
	l := inside(t)
	if l == nil {
		return
	}
	addr := l.(lab.Spare).VirtualAddr()
	var one []string
	for _, name := range []string{"r1", "r2"} {
		h := newHost(t, l, name, redisImage)
		program := server()
		program.Argv[2] = "0.0.0.0" // of all addresses
		start(t, h, program)
		if err := h.(lab.Mobile).TakeAddr(addr); err != nil {
			t.Fatal(err)
		}
		c := dial(addr + ":6379")
		id, err := c.InfoMap(t.Context(), "server").Result()
		if err != nil {
			t.Fatal(err)
		}
		one = append(one, id["Server"]["run_id"])
		c.Close()
	}
	if one[0] == one[1] {
		t.Error("the address stayed where it was")
	}
}

// What runs in a container may do no more than what an engine would start there, has its
// own files and process ids, and sees of this machine what it is shown.
func TestContained(t *testing.T) {
	l := inside(t)
	if l == nil {
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shown"), []byte("shown"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHost(t, l, "r1", redisImage)
	var out, log bytes.Buffer
	p := start(t, h, lab.Program{Stdout: &out, Log: &log, Sees: []string{dir}, Argv: []string{"sh", "-c",
		"grep CapEff /proc/self/status; hostname; cat " + dir + "/shown; mount -t tmpfs x /mnt && echo mounted; [ -e " + program + " ] && echo seen; [ $$ -lt 100 ] && echo small"}})
	_ = p.Wait()
	const docker = "CapEff:\t00000000a00425fb\nr1\nshownsmall\n"
	if out.String() != docker {
		t.Errorf("it may and sees %q, want %q; it said %q", out.String(), docker, log.String())
	}
}

func TestFullDisk(t *testing.T) {
	l := inside(t)
	if l == nil {
		return
	}
	h := newHost(t, l, "r1", redisImage)
	c := dial(start(t, h, server()).Endpoint())
	defer c.Close()
	big := strings.Repeat("x", 1<<16)
	write := func() error { return c.Set(t.Context(), "k", big, 0).Err() }
	if err := write(); err != nil {
		t.Fatal(err)
	}
	room, err := h.(lab.Fillable).FillDisk()
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); err == nil && time.Now().Before(end); {
		err = write()
	}
	if err == nil {
		t.Error("a server with a full disk confirms whatever it is asked to write")
	}
	if err := room(); err != nil {
		t.Error(err)
	}
}
