package nats_test

import (
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/backends/nats"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
	"github.com/lockbench/lockbench/lab"
	client "github.com/nats-io/nats.go"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestReal says each request to a real server once, and reads it from the wire.
func TestReal(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	r, ctx := wiretest.NewRelay(t, nats.Language, labtest.Endpoints(labtest.Servers(t, "nats"))[0]), t.Context()
	c, err := nats.Dial([]string{r.Addr}, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := nats.Bucket(ctx, c, 1, 0); err != nil {
		t.Fatal(err)
	}
	r.Want(t, "") // a bucket that is made is no request of a lock
	kv := nats.KV{Conn: c, Bucket: nats.BucketName(0)}
	at, err := kv.Put(ctx, "k", "one", 0, 60*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	r.Want(t, "put =put")
	if _, err := kv.Put(ctx, "k", "two", 0, 0); !errors.Is(err, nats.ErrRevision) || !nats.NoEffect(err) {
		t.Errorf("a key was made twice: %v", err)
	}
	r.Want(t, "put =put!")
	for name, read := range map[string]func() (nats.Entry, error){
		"get":  func() (nats.Entry, error) { return kv.Get(ctx, "k") },
		"look": func() (nats.Entry, error) { return kv.Look(ctx, "k") },
	} {
		if e, err := read(); err != nil || e != (nats.Entry{Value: "one", Revision: at}) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		r.Want(t, "get =get")
	}
	if err := kv.Delete(ctx, "k", at+1); !errors.Is(err, nats.ErrRevision) {
		t.Errorf("deleted at another revision: %v", err)
	}
	r.Want(t, "delete =delete!")
	if err := kv.Delete(ctx, "k", at); err != nil {
		t.Error(err)
	}
	r.Want(t, "delete =delete")
	if e, err := kv.Get(ctx, "k"); err != nil || !e.Gone || e.Revision != at+1 {
		t.Errorf("a marker: %+v, %v", e, err)
	}
	if e, err := kv.Look(ctx, "k"); err != nil || !e.Gone || e.Revision != at+1 {
		t.Errorf("a marker, by the leader: %+v, %v", e, err)
	}
	r.Want(t, "get get =get =get")
	if e, err := kv.Get(ctx, "none"); err != nil || !e.Gone || e.Revision != 0 {
		t.Errorf("a key that never was: %+v, %v", e, err)
	}
	r.Want(t, "get =get!")
}

// TestSeconds: a key lasts for whole seconds, and the part of one that a duration has beside is dropped without a word.
func TestSeconds(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	ctx := t.Context()
	c, err := nats.Dial(labtest.Endpoints(labtest.Servers(t, "nats")), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := nats.Bucket(ctx, c, 1, 0); err != nil {
		t.Fatal(err)
	}
	kv, begin := nats.KV{Conn: c, Bucket: nats.BucketName(0)}, time.Now()
	first, err := kv.Put(ctx, "k", "", 0, 1900*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := kv.Get(ctx, "k")
		if err != nil {
			t.Fatal(err)
		}
		if e.Gone {
			if e.Revision <= first {
				t.Errorf("the marker of a key that ended has revision %d, the key had %d", e.Revision, first)
			}
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if lasted := time.Since(begin); lasted < time.Second || lasted > 1900*time.Millisecond && !testkit.Busy(ctx) {
		t.Errorf("a key of 1.9 s lasted for %v, and the one second that NATS makes of that is over sooner", lasted)
	}
}

// TestOperated has people purge a bucket, and hand it over, and the servers tell of themselves.
func TestOperated(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 2)
	servers := labtest.Servers(t, "nats-3")
	ctx, endpoints := t.Context(), labtest.Endpoints(servers)
	c, err := nats.Dial(endpoints, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := nats.Bucket(ctx, c, 3, 0); err != nil {
		t.Fatal(err)
	}
	kv := nats.KV{Conn: c, Bucket: nats.BucketName(0)}
	before, err := kv.Put(ctx, "k", "v", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	top, _ := backends.Topology("nats-3")
	labtest.HandOver(t, top.Kind, servers)
	if k, err := servers[0].Keeps(ctx); err != nil || k["keys"] != 1 {
		t.Errorf("kept: %v, %v", k, err)
	}
	if e, err := servers[0].Operate(ctx, lab.FlushAll, ""); err != nil || e.Count != 1 {
		t.Errorf("purge: %+v, %v", e, err)
	}
	after, err := kv.Put(ctx, "k", "v", 0, 0)
	for begin := time.Now(); errors.Is(err, client.ErrNoResponders) && time.Since(begin) < 10*time.Second; { // the one that leads now has just begun
		after, err = kv.Put(ctx, "k", "v", 0, 0)
	}
	if err != nil || after <= before {
		t.Errorf("revisions count on: %d after %d, %v", after, before, err)
	}
	if now, err := top.Kind.Clock(ctx, endpoints[0]); err != nil || time.Since(now).Abs() > time.Minute {
		t.Errorf("its clock shows %v, %v", now, err)
	}
}
