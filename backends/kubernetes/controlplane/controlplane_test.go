package controlplane

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/backends/internal/web"
)

// TestStoreEnds: of a machine whose etcd does not start it is told why, also while it waits for the first of its cluster.
func TestStoreEnds(t *testing.T) {
	stays := filepath.Join(t.TempDir(), "stays") // a program that takes any option, and does not end of itself
	if err := os.WriteFile(stays, []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{First, Joins} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		err := Serve(ctx, []string{role, "127.77.1.9:8001", t.TempDir(), stays, "--", "--no-such-flag"})
		if err == nil || !strings.Contains(err.Error(), "no-such-flag") {
			t.Errorf("%s: %v", role, err)
		}
	}
	if err := Serve(t.Context(), []string{First, "--", "--name"}); err == nil {
		t.Error("it starts without an address")
	}
}

// TestFront: what comes in the clear is passed on with TLS, under the name of the front, and its answer comes back.
func TestFront(t *testing.T) {
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Authorization")))
	}))
	defer api.Close()
	front := httptest.NewServer(newFront(api.Listener.Addr().String()))
	defer front.Close()
	_, said, err := web.Ask(t.Context(), web.Once, http.MethodPut, front.URL+"/apis?x=1", "{}")
	if want := "PUT /apis?x=1 Bearer " + token; err != nil || string(said) != want {
		t.Errorf("%q, want %q: %v", said, want, err)
	}
}
