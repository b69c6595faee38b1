//go:build apiserver

package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/backends/internal/web"
	"github.com/lockbench/lockbench/backends/kubernetes"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
	"github.com/lockbench/lockbench/lab"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// send sends one request and returns the status of the answer, 200 for any that is no error.
func send(t *testing.T, method, url, body string) (status int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	_, text, err := web.Ask(ctx, web.Once, method, "http://"+url, body)
	var refused web.StatusError
	switch {
	case errors.As(err, &refused):
		return refused.Code, string(text)
	case err != nil:
		t.Fatal(err)
	}
	return http.StatusOK, string(text)
}

// named is a lease of a name and a version, "" for none.
func named(version, holder, acquired, renewed string) string {
	return strings.Replace(lease(holder, acquired, renewed), "{", fmt.Sprintf(`{"metadata":{"name":"a","resourceVersion":%q},`, version), 1)
}

// TestReal says each request to a real server once, and reads it from the wire.
func TestReal(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	r := wiretest.NewRelay(t, kubernetes.Language, labtest.Endpoints(labtest.Servers(t, "kubernetes"))[0])
	const first, then = "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:02.000000Z"
	const last = "the last version"
	version := regexp.MustCompile(`"resourceVersion":"(\d+)"`)
	now := ""
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{http.MethodGet, all + "/a", "", 404, "get =get!"},
		{http.MethodPost, all, named("", "me", first, first), 200, "acquire =acquire"},
		{http.MethodPost, all, named("", "you", first, first), 409, "acquire =acquire!"},
		{http.MethodGet, all + "/a", "", 200, "get =get"},
		{http.MethodPut, all + "/a", named(last, "me", first, then), 200, "renew =renew"},
		{http.MethodPut, all + "/a", named("1", "me", first, then), 409, "renew =renew!"},
		{http.MethodPut, all + "/a", named(last, "", then, then), 200, "release =release"},
		{http.MethodDelete, all + "/a", "", 200, "delete =delete"},
		{http.MethodGet, "/version", "", 200, ""},
	} {
		status, said := send(t, tc.method, r.Addr+tc.path, strings.Replace(tc.body, last, now, 1))
		if status != tc.status {
			t.Errorf("%s %s: %d, want %d: %s", tc.method, tc.path, status, tc.status, said)
		}
		if found := version.FindStringSubmatch(said); found != nil && status == 200 {
			now = found[1]
		}
		r.Want(t, tc.want)
	}
}

func TestYardstick(t *testing.T) {
	t.Parallel()
	top, _ := backends.Topology("kubernetes")
	labtest.Yardstick(t, top)
}

// TestOperated has people delete all Leases and hand the lead over, and the servers tell of themselves.
func TestOperated(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 4)
	servers := labtest.Servers(t, "kubernetes-3")
	ctx, endpoints := t.Context(), labtest.Endpoints(servers)
	top, _ := backends.Topology("kubernetes-3")
	counting, err := top.Kind.Counts(endpoints[1])
	if err != nil {
		t.Fatal(err)
	}
	defer counting.Close()
	count := func() uint64 {
		t.Helper()
		n, err := counting.Ask(ctx)
		if err != nil {
			t.Error(err)
		}
		return n.Changes
	}
	before := count()
	if status, said := send(t, http.MethodPost, endpoints[2]+all, named("", "me", "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z")); status != 200 {
		t.Errorf("make a lease: %s", said)
	}
	after := count()
	if after <= before {
		t.Errorf("%d changes before a lease was made, %d after", before, after)
	}
	send(t, http.MethodGet, endpoints[0]+all+"/a", "")
	if then := count(); then != after {
		t.Errorf("%d changes before a read, %d after", after, then)
	}
	if k, err := servers[0].Keeps(ctx); err != nil || k["leases"] != 1 {
		t.Errorf("kept: %v, %v", k, err)
	}
	if e, err := servers[0].Operate(ctx, lab.FlushAll, ""); err != nil || e.Count != 1 {
		t.Errorf("delete: %+v, %v", e, err)
	}
	labtest.HandOver(t, top.Kind, servers)
	if k, err := servers[1].Keeps(ctx); err != nil || k["leases"] != 0 {
		t.Errorf("kept: %v, %v", k, err)
	}
}

// TestOptions: a server takes what a user says of it.
func TestOptions(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	top, _ := backends.Topology("kubernetes")
	top, err := top.With(lab.Own{Options: []string{"disable-admission-plugins=ServiceAccount,NamespaceLifecycle"}})
	if err != nil {
		t.Fatal(err)
	}
	at := labtest.Endpoints(labtest.ServersOf(t, top))[0]
	elsewhere := strings.Replace(all, "/default/", "/nowhere/", 1)
	if status, said := send(t, http.MethodPost, at+elsewhere, named("", "me", "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z")); status != 200 {
		t.Errorf("a lease in a namespace that is not there: %s", said)
	}
}
