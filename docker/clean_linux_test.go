package docker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"

	"github.com/lockbench/lockbench/internal/testkit"
)

// crash runs this test once more in a process of its own, which makes a lab with a server
// and lives until it is killed. It returns that process.
func crash(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), crashing+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for s := bufio.NewScanner(out); s.Scan(); {
		if s.Text() == "open" {
			return cmd
		}
	}
	t.Fatalf("the other process made no lab: %v", cmd.Wait())
	return nil
}

const crashing = "LOCKBENCH_TEST_CRASH"

// open makes a lab that nobody is inside of: a network and the runner's container.
func open(t *testing.T) {
	t.Helper()
	thread, leave, err := Enter(t.Context(), exec.Command("true"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		thread.Close()
		if err := leave(); err != nil {
			t.Error(err)
		}
	})
}

func TestClean(t *testing.T) {
	testkit.Need(t, "a container engine with the redis image", Check(t.Context(), redisImage))
	if os.Getenv(crashing) == "" { // else it is this test that has the place
		testkit.Only(t, "clean")
		testkit.Share(t, 2)
	}
	open(t)
	if os.Getenv(crashing) != "" {
		fmt.Println("open")
		select {}
	}
	other := crash(t)
	ours, theirs := leftovers(t, os.Getpid()), leftovers(t, other.Process.Pid)
	if len(ours) != 2 || len(theirs) != 2 {
		t.Fatalf("two labs have %q and %q, want a container and a network each", ours, theirs)
	}
	removed, err := Clean(t.Context())
	if err != nil {
		t.Log(err) // of a lab that isn't this test's: what has become of its own, it looks up
	}
	for _, name := range slices.Concat(ours, theirs) {
		if slices.Contains(removed, name) {
			t.Errorf("%s was removed from a living owner", name)
		}
	}

	_ = other.Process.Kill()
	_ = other.Wait()
	removed, err = Clean(t.Context())
	if err != nil {
		t.Log(err)
	}
	for _, name := range theirs {
		if !slices.Contains(removed, name) {
			t.Errorf("%s of a dead owner is not among the removed: %q", name, removed)
		}
	}
	if found := leftovers(t, other.Process.Pid); len(found) != 0 {
		t.Errorf("the dead owner still has %q", found)
	}
	if found := leftovers(t, os.Getpid()); len(found) != 2 {
		t.Errorf("the living owner has %q left, had %q", found, ours)
	}
}

// TestCleanBusyNetwork: a network of a lab whose owner has died goes, though a container
// that is nobody's lab is on it, and that container stays.
func TestCleanBusyNetwork(t *testing.T) {
	testkit.Need(t, "a container engine with the redis image", Check(t.Context(), redisImage))
	testkit.Only(t, "clean")
	testkit.Share(t, 1)
	engine, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	dead := owner{pid: 1 << 30, where: where()} // Linux gives no process such a number
	made, err := network.New(t.Context(), network.WithInternal(), network.WithLabels(dead.labels("busy")))
	if err != nil {
		t.Fatal(err)
	}
	image, err := resolve(t.Context(), engine, redisImage)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := testcontainers.GenericContainer(t.Context(), testcontainers.GenericContainerRequest{
		Started: true,
		ContainerRequest: testcontainers.ContainerRequest{
			Image: image, Entrypoint: []string{"sleep", "600"}, Networks: []string{made.Name},
		},
	})
	if guest != nil {
		t.Cleanup(func() {
			if err := removeContainer(context.WithoutCancel(t.Context()), engine, guest.GetContainerID()); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	removed, err := Clean(t.Context())
	if err != nil {
		t.Error(err)
	}
	if !slices.Contains(removed, "network "+made.Name) {
		t.Errorf("the network is not among the removed: %q", removed)
	}
	found, err := engine.ContainerInspect(t.Context(), guest.GetContainerID(), client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !found.Container.State.Running {
		t.Error("a container that belongs to no lab was stopped")
	}
}

func TestOwnerMayLive(t *testing.T) {
	me := self()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	change := func(f func(*owner)) owner { o := me; f(&o); return o }
	boot, ns, _ := strings.Cut(me.where, "/")
	for _, tc := range []struct {
		name        string
		o           owner
		here, apart bool // expected with the engine on this machine, and elsewhere
	}{
		{"this process", me, true, true},
		{"a dead one", change(func(o *owner) { o.pid = dead.Process.Pid }), false, false},
		{"one whose number was reused", change(func(o *owner) { o.born = "1" }), false, false},
		{"one before the last boot, or on another machine", change(func(o *owner) { o.where = "x" + boot + "/" + ns }), false, true},
		{"one in another PID namespace", change(func(o *owner) { o.where = boot + "/x" }), true, true},
		{"no number", change(func(o *owner) { o.pid = 0 }), false, false},
	} {
		if here, apart := tc.o.mayLive(true), tc.o.mayLive(false); here != tc.here || apart != tc.apart {
			t.Errorf("%s: may live %v here and %v elsewhere, want %v and %v", tc.name, here, apart, tc.here, tc.apart)
		}
	}
	if got := ownerOf(me.labels("id")); got != me {
		t.Errorf("labels read back as %+v, want %+v", got, me)
	}
}
