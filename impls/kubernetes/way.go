//go:build apiserver

package kubernetes

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	lb "github.com/lockbench/lockbench"
)

// host is what clients call the API servers, as if they reached them by a load balancer.
const host = "http://kubernetes"

// way is that to the API servers: each connection goes to the next, as those by a load balancer do.
type way struct{ *http.Transport }

func newWay(env *lb.Env) *way {
	var next atomic.Uint64
	next.Store(env.Rand.Uint64N(uint64(len(env.Servers))))
	return &way{&http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		n := next.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, env.Servers[n%uint64(len(env.Servers))])
	}}}
}

// connect asks for the servers' version.
func (c *client) connect(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/version", nil)
	if err != nil {
		return err
	}
	answer, err := c.way.RoundTrip(req)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", answer.Status)
	}
	return nil
}
