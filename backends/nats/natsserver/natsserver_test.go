package natsserver

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/clock"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// options are those of a server of its own, and where it is reached.
func options(t *testing.T) (args []string, url string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	host, port, _ := net.SplitHostPort(free.Addr().String())
	return []string{"--addr", host, "--port", port, "--jetstream", "--store_dir", filepath.Join(t.TempDir(), "js"), "--log", filepath.Join(t.TempDir(), "log")},
		"nats://" + free.Addr().String()
}

// TestServe: it listens where its flags say, keeps what it is told on its disk, and ends with its context.
func TestServe(t *testing.T) {
	args, url := options(t)
	for start := range uint64(2) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- Serve(ctx, args) }()
		c, err := nats.Connect(url, nats.RetryOnFailedConnect(true), nats.ReconnectWait(20*time.Millisecond), nats.MaxReconnects(-1))
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(c)
		if err != nil {
			t.Fatal(err)
		}
		asking, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		for !c.IsConnected() && asking.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		kv, err := js.CreateOrUpdateKeyValue(asking, jetstream.KeyValueConfig{Bucket: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if revision, err := kv.Put(asking, "k", nil); err != nil || revision != start+1 {
			t.Errorf("start %d: revision %d, %v", start, revision, err)
		}
		cancel()
		c.Close()
		stop()
		testkit.Ends(t, ended)
		if left, err := net.Dial("tcp", strings.TrimPrefix(url, "nats://")); err == nil {
			left.Close()
			t.Error("it still listens")
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
	t.Setenv(clock.FileVar, filepath.Join(t.TempDir(), "missing"))
	if err := Serve(ctx, args); err == nil || !strings.Contains(err.Error(), "move the clock") {
		t.Errorf("a clock that is not there: %v", err)
	}
}
