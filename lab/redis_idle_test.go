package lab_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/redis/go-redis/v9"
)

// TestIdleTimeout: what says nothing for long is closed, and what says something now and then is not. Of
// a client of the second kind that is all that there is to see.
func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	server := labtest.Servers(t, "redis")[0]
	from := func(host string) *redis.Client {
		c := redis.NewClient(&redis.Options{Addr: server.Endpoint(), PoolSize: 1, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}).DialContext(ctx, network, addr)
		}})
		t.Cleanup(func() { _ = c.Close() })
		if err := c.Ping(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	const silent, talks = "127.0.0.3", "127.0.0.4"
	from(silent)
	talker := from(talks)
	var ends []func(context.Context) (lab.Effect, error)
	for _, host := range []string{silent, talks} {
		e, err := server.Operate(t.Context(), lab.IdleTimeout, host)
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
	for i, want := range []string{"closed 1 connection of 2 for being idle, 1 of them from " + silent, "closed 1 connection of 2 for being idle, 0 of them from " + talks + "; it kept 1, "} {
		e, err := ends[i](t.Context())
		if err != nil || e.Count != 1-i || e.Immune != (i == 1) || !strings.HasPrefix(e.Told, want) {
			t.Errorf("%+v, want %q; %v", e, want, err)
		}
	}
}
