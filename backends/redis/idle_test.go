package redis_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// dialFrom dials as a host does that has this address.
func dialFrom(host string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}).DialContext
}

// TestIdleTimeout: what says nothing for long is closed, and what says something now and then is not. Of
// a client of the second kind that is all that there is to see; and who listens to a channel is never idle,
// so that nothing is to be seen of it.
func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	server := labtest.Servers(t, "redis")[0]
	from := func(host string) *redis.Client {
		c := redis.NewClient(&redis.Options{Addr: server.Endpoint(), PoolSize: 1, Dialer: dialFrom(host)})
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	const silent, talks, listens = "127.0.0.3", "127.0.0.4", "127.0.0.5"
	talker := from(talks)
	channel := from(listens).Subscribe(t.Context(), "news")
	defer channel.Close()
	_, err := channel.Receive(t.Context())
	if err := errors.Join(err, from(silent).Ping(t.Context()).Err(), talker.Ping(t.Context()).Err()); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		host   string
		count  int
		immune bool
		told   string
	}{
		{silent, 1, false, "closed 1 connection of 3 for being idle, 1 of them from " + silent},
		{talks, 0, true, "closed 1 connection of 3 for being idle, 0 of them from " + talks + "; it kept 1, "},
		{listens, 0, false, "closed 1 connection of 3 for being idle, 0 of them from " + listens},
	}
	var ends []func(context.Context) (lab.Effect, error)
	for _, w := range want {
		e, err := server.Operate(t.Context(), lab.IdleTimeout, w.host)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, e.End)
	}
	for begin := time.Now(); time.Since(begin) < 3200*time.Millisecond; time.Sleep(100 * time.Millisecond) {
		if err := talker.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for i, w := range want {
		e, err := ends[i](t.Context())
		if err != nil || e.Count != w.count || e.Immune != w.immune || !strings.HasPrefix(e.Told, w.told) {
			t.Errorf("%+v, want %+v; %v", e, w, err)
		}
	}
}

func TestMain(m *testing.M) { labtest.Main(m) }
