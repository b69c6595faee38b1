package memcached_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockbench/lockbench/backends/memcached"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
	"github.com/lockbench/lockbench/lab"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// server is a real one for the time of the test, and a connection to it.
func server(t *testing.T) (*lab.Server, *memcached.Conn) {
	t.Helper()
	s := labtest.Servers(t, "memcached")[0]
	return s, dial(t, s.Endpoint())
}

func dial(t *testing.T, endpoint string) *memcached.Conn {
	t.Helper()
	c, err := memcached.Dial(t.Context(), endpoint)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// want is an answer without an error.
func want(t *testing.T, wanted, got bool, err error) {
	t.Helper()
	must(t, err)
	if got != wanted {
		t.Errorf("%v, want %v", got, wanted)
	}
}

// add takes the key, or finds it taken.
func add(t *testing.T, wanted bool, c *memcached.Conn, key string, seconds int) {
	t.Helper()
	done, err := c.Add(t.Context(), key, "me", seconds)
	want(t, wanted, done, err)
}

func TestReal(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	s, _ := server(t)
	r := wiretest.NewRelay(t, memcached.Language, s.Endpoint())
	c, ctx := dial(t, r.Addr), t.Context()
	add(t, true, c, "k", 0)
	add(t, false, c, "k", 0)
	r.Want(t, "add add =add =add!")
	item, ok, err := c.Gets(ctx, "k")
	want(t, true, ok && item.Value == "me", err)
	done, err := c.Expire(ctx, "k", item.Cas+1)
	want(t, false, done, err)
	done, err = c.Expire(ctx, "k", item.Cas)
	want(t, true, done, err)
	r.Want(t, "gets cas cas =gets =cas! =cas")
	_, ok, err = c.Gets(ctx, "k")
	want(t, false, ok, err)
	add(t, true, c, "k", 0)
	done, err = c.Delete(ctx, "k")
	want(t, true, done, err)
	done, err = c.Delete(ctx, "k")
	want(t, false, done, err)
	r.Want(t, "gets add delete delete =gets! =add =delete =delete!")
	_, err = c.Ask(ctx, "bogus")
	if said := memcached.Refusal(""); !errors.As(err, &said) {
		t.Errorf("no such command: %v", err)
	}
	r.Want(t, "bogus =bogus!")
}

// TestSeconds: an item is kept for up to a second less than it was stored for, and never for longer.
func TestSeconds(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	_, c := server(t)
	const seconds, tick, late = 2, time.Second, 300 * time.Millisecond
	stored := time.Now()
	add(t, true, c, "k", seconds)
	for there := true; there; {
		_, ok, err := c.Gets(t.Context(), "k")
		must(t, err)
		there = ok
		time.Sleep(time.Millisecond)
	}
	if kept := time.Since(stored); kept < seconds*time.Second-2*tick || kept > seconds*time.Second+late {
		t.Errorf("stored for %d s, it was kept for %v", seconds, kept)
	}
}

// TestClock: the server's events tell its wall clock.
func TestClock(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	s, _ := server(t)
	if ahead, err := s.Clock(t.Context()); err != nil || ahead.Abs() > time.Second {
		t.Errorf("its clock is %v ahead, %v", ahead, err)
	}
}

// TestOperations: what people do to it takes all items, those of before too.
func TestOperations(t *testing.T) {
	t.Parallel()
	testkit.Share(t, 1)
	s, c := server(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, what := range []lab.Operation{lab.FlushAll, lab.EvictLRU} {
		add(t, true, c, "lockbench:short", 100)
		add(t, true, c, "lockbench:%20of-a-name-which-is-so-long-that-the-item-is-of-another-size", 100)
		k, err := s.Keeps(ctx)
		if err != nil || k["items"] != 2 {
			t.Errorf("it keeps %v, %v", k, err)
		}
		e, err := s.Operate(ctx, what, "")
		if err != nil || e.Count != 2 {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
		_, ok, err := c.Gets(ctx, "lockbench:short")
		want(t, false, ok, err)
		if e.End != nil {
			_, err = e.End(ctx)
			must(t, err)
		}
		if k, err := s.Keeps(ctx); err != nil || k["items"] != 0 {
			t.Errorf("after %s it keeps %v, %v", what, k, err)
		}
	}
}
