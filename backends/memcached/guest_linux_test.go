package memcached_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/backends/memcached"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/lab/external"
)

var kind = lab.Kind{Name: "memcached", Software: lab.Software{Name: "memcached"}, Guest: memcached.Guest()}

// borrowed is the server as lockbench finds it.
func borrowed(t *testing.T, endpoint, how string) lab.Borrowed {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lab.yaml")
	must(t, os.WriteFile(path, []byte("servers: ["+endpoint+"]\n"+how), 0o600))
	d, err := external.Driver().At(path)
	must(t, err)
	return d.Borrowed
}

// TestLogin: with the password of the text protocol, and what is said when that fails.
func TestLogin(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	const secret = "correct-horse"
	file := filepath.Join(t.TempDir(), "auth")
	must(t, os.WriteFile(file, []byte("bench:"+secret+"\n"), 0o600))
	top, _ := backends.Topology("memcached")
	before := top.Kind.Program
	top.Kind.Program = func(self lab.Host, all []lab.Host) lab.Program {
		p := before(self, all)
		p.Argv = append(slices.Clip(p.Argv), "-Y", file)
		p.Ready = func(ctx context.Context, endpoint string) error { // else it would want to be asked by one who is let in
			c, err := memcached.Dial(ctx, endpoint)
			if err == nil {
				c.Close()
			}
			return err
		}
		return p
	}
	at := labtest.ServersOf(t, top)[0].Endpoint()
	for _, tc := range []struct{ name, how, wants string }{
		{"right", "user: bench\npassword: " + secret + "\n", ""},
		{"a wrong password", "user: bench\npassword: wrong\n", "LOCKBENCH_PASSWORD"},
		{"nobody of that name", "user: nobody\npassword: " + secret + "\n", "LOCKBENCH_USER"},
		{"no password", "", "LOCKBENCH_PASSWORD"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := borrowed(t, at, tc.how).Ready(t.Context(), kind)
			if tc.wants == "" && err != nil || tc.wants != "" && (err == nil || !strings.Contains(err.Error(), tc.wants)) {
				t.Errorf("%v, want %q", err, tc.wants)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("not a line without secrets: %v", err)
			}
		})
	}
}

// TestOccupied: what is there is named, and nothing of anybody else is touched.
func TestOccupied(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	s, c := server(t)
	theirs, ours := borrowed(t, s.Endpoint(), ""), borrowed(t, s.Endpoint(), "")
	ctx := t.Context()
	must(t, theirs.Take(ctx, kind))
	add(t, true, c, "lockbench:left", 0)
	add(t, true, c, "Lockbench", 0)
	add(t, true, c, "lockbenc", 0)
	var left *lab.OccupiedError
	if err := ours.Ready(ctx, kind); !errors.As(err, &left) || len(left.Names) != 1 || left.Names[0] != "lockbench:left" || left.By == "" {
		t.Errorf("another run is using it: %v", err)
	}
	if err := ours.Take(ctx, kind); !errors.Is(err, lab.ErrTaken) {
		t.Errorf("two runs have taken it: %v", err)
	}
	if err := ours.GiveBack(kind); !errors.Is(err, lab.ErrTaken) {
		t.Errorf("it gave back what is another's: %v", err)
	}
	must(t, ours.Clear(kind)) // whoever says so knows that it is dead
	must(t, ours.Ready(ctx, kind), ours.Take(ctx, kind), ours.GiveBack(kind))
	if k, err := s.Keeps(ctx); err != nil || k["items"] != 2 {
		t.Errorf("it keeps %v, %v", k, err)
	}
}

// TestHangs: a server that does not answer is waited for for so long, and no longer.
func TestHangs(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	s, _ := server(t)
	must(t, s.Signal(syscall.SIGSTOP))
	if err := borrowed(t, s.Endpoint(), "").Ready(t.Context(), kind); err == nil || !strings.Contains(err.Error(), "does it hang") {
		t.Error(err)
	}
	must(t, s.Signal(syscall.SIGCONT))
}

// TestOther: a server of another kind is no server.
func TestOther(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	redis := labtest.Servers(t, "redis")[0].Endpoint()
	if err := borrowed(t, redis, "").Ready(t.Context(), kind); err == nil || !strings.Contains(err.Error(), "is it something else") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
