//go:build consul

package consul_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/backends/consul"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
	"github.com/lockbench/lockbench/lab"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// send sends one request and returns the answer, without its last newline.
func send(t *testing.T, method, url, body string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// session makes one, and returns its name.
func session(t *testing.T, at, how string) string {
	t.Helper()
	said := send(t, http.MethodPut, at+"/v1/session/create", how)
	var id string
	if _, err := fmt.Sscanf(strings.ReplaceAll(said, `"`, " "), "{ ID : %s }", &id); err != nil {
		t.Fatalf("a session: %s", said)
	}
	return id
}

// TestReal says each request to a real server once, and reads it from the wire.
func TestReal(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r := wiretest.NewRelay(t, consul.Language, labtest.Endpoints(labtest.Servers(t, "consul"))[0])
	id := session(t, r.Addr, `{"TTL":"10s"}`)
	r.Want(t, "create =create("+id+")")
	const key = "/v1/kv/lockbench:a"
	for _, tc := range []struct{ method, what, said, want string }{
		{http.MethodGet, key, "", "get =get!"},
		{http.MethodPut, key + "?acquire=" + id, "true", "acquire =acquire"},
		{http.MethodPut, key + "?acquire=" + strings.Repeat("0", 8) + id[8:], "", "acquire =acquire!"},
		{http.MethodGet, key + "?index=1&wait=1s", "", "watch =watch"},
		{http.MethodPut, "/v1/session/renew/" + id, "", "renew~ =renew~"},
		{http.MethodPut, key + "?release=" + id, "true", "release =release"},
		{http.MethodPut, key + "?release=" + id, "false", "release =release!"},
		{http.MethodPut, "/v1/session/destroy/" + id, "true", "destroy =destroy"},
		{http.MethodPut, "/v1/session/renew/" + id, "", "renew~ =renew~!"},
		{http.MethodDelete, key, "true", "delete =delete"},
		{http.MethodGet, "/v1/status/leader", "", ""},
	} {
		if said := send(t, tc.method, r.Addr+tc.what, "me"); tc.said != "" && said != tc.said {
			t.Errorf("%s %s: %q, want %q", tc.method, tc.what, said, tc.said)
		}
		r.Want(t, tc.want)
	}
}

func TestYardstick(t *testing.T) {
	t.Parallel()
	top, _ := backends.Topology("consul")
	labtest.Yardstick(t, top)
}

// TestOperated has people delete all keys, end a session and hand the lead over, and the servers tell of themselves.
func TestOperated(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	servers := labtest.Servers(t, "consul-3")
	ctx, endpoints := t.Context(), labtest.Endpoints(servers)
	top, _ := backends.Topology("consul-3")
	id := session(t, endpoints[0], `{"TTL":"20s","LockDelay":"0s"}`)
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
	if said := send(t, http.MethodPut, endpoints[2]+"/v1/kv/lockbench:a?acquire="+id, "me"); said != "true" {
		t.Errorf("acquire: %s", said)
	}
	if after := count(); after <= before {
		t.Errorf("%d changes before a lock was granted, %d after", before, after)
	}
	before = count()
	send(t, http.MethodPut, endpoints[0]+"/v1/session/renew/"+id, "")
	send(t, http.MethodGet, endpoints[0]+"/v1/kv/lockbench:a", "")
	if after := count(); after != before {
		t.Errorf("%d changes before a renewal and a read, %d after", before, after)
	}
	if k, err := servers[0].Keeps(ctx); err != nil || k["keys"] != 1 || k["sessions"] != 1 {
		t.Errorf("kept: %v, %v", k, err)
	}
	if e, err := servers[0].Operate(ctx, lab.FlushAll, ""); err != nil || e.Count != 1 {
		t.Errorf("delete: %+v, %v", e, err)
	}
	for n, want := range []bool{true, false} {
		if knew, err := top.Kind.End(ctx, endpoints[n], id); err != nil || knew != want {
			t.Errorf("end a session, time %d: knew it: %v, %v", n+1, knew, err)
		}
	}
	labtest.HandOver(t, top.Kind, servers)
	if k, err := servers[1].Keeps(ctx); err != nil || k["keys"] != 0 || k["sessions"] != 0 {
		t.Errorf("kept: %v, %v", k, err)
	}
}

// TestOptions: a server takes what a user says of it, numbers as well as words.
func TestOptions(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	top, _ := backends.Topology("consul")
	top, err := top.With(lab.Own{Options: []string{"performance.raft_multiplier=2", "session_ttl_min=15s", "datacenter=mine"}})
	if err != nil {
		t.Fatal(err)
	}
	at := labtest.Endpoints(labtest.ServersOf(t, top))[0]
	if said := send(t, http.MethodPut, at+"/v1/session/create", `{"TTL":"14s"}`); !strings.Contains(said, "Invalid Session TTL") {
		t.Errorf("a session that is too short: %s", said)
	}
	if said := send(t, http.MethodGet, at+"/v1/agent/self", ""); !strings.Contains(said, `"Datacenter":"mine"`) {
		t.Errorf("of itself it says %.200s", said)
	}
}
