package etcdserver

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockbench/lockbench/internal/testkit"
)

const loopback = "127.0.0.1"

// options are those of a server of its own, and where it is reached.
func options(t *testing.T) (args []string, endpoint string) {
	t.Helper()
	var urls [2]string
	for i := range urls {
		free, err := net.Listen("tcp", loopback+":0")
		if err != nil {
			t.Fatal(err)
		}
		defer free.Close()
		urls[i] = "http://" + free.Addr().String()
	}
	return []string{"--name", "e1", "--data-dir", filepath.Join(t.TempDir(), "etcd"), "--log-level", "panic",
		"--listen-client-urls", urls[0], "--advertise-client-urls", urls[0],
		"--listen-peer-urls", urls[1], "--initial-advertise-peer-urls", urls[1], "--initial-cluster", "e1=" + urls[1]}, urls[0]
}

// await asks the server until it is healthy.
func await(t *testing.T, endpoint string, ended <-chan error) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		default:
		}
		if r, err := http.Get(endpoint + "/health"); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
	}
	t.Fatal("it is not healthy within 20 s")
}

// TestServe: it listens where its flags say, keeps what it is told on its disk, tells
// its own clients where it is, and ends with its context.
func TestServe(t *testing.T) {
	args, endpoint := options(t)
	for start := range 2 {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, args) }()
		await(t, endpoint, ended)
		c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		asking, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		got, err := c.Get(asking, "k")
		if err != nil || len(got.Kvs) != start {
			t.Errorf("start %d: it knows %v, %v", start, got, err)
		}
		if _, err := c.Put(asking, "k", "v"); err != nil {
			t.Error(err)
		}
		if m, err := c.MemberList(asking); err != nil || len(m.Members) != 1 || len(m.Members[0].ClientURLs) != 1 || m.Members[0].ClientURLs[0] != endpoint {
			t.Errorf("members %+v, %v; want one that is reached at %s", m, err, endpoint)
		}
		cancel()
		_ = c.Close()
		if start == 0 {
			if err := Serve(t.Context(), args); err == nil || !strings.Contains(err.Error(), "start etcd") {
				t.Errorf("a second at the same port: %v", err)
			}
		}
		stop()
		testkit.Ends(t, ended)
		if _, err := http.Get(endpoint + "/health"); err == nil {
			t.Error("it still answers")
		}
	}
}

// TestServeWrongly says what is wrong before anything listens.
func TestServeWrongly(t *testing.T) {
	args, _ := options(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := Serve(ctx, append(args, "--no-such-flag")); err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("an unknown flag: %v", err)
	}
	t.Setenv(ClockFile, filepath.Join(t.TempDir(), "missing"))
	if err := Serve(ctx, args); err == nil || !strings.Contains(err.Error(), "move the clock") {
		t.Errorf("a clock that is not there: %v", err)
	}
}
