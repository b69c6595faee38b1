package consul

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/consul/api"
	"github.com/hashicorp/go-cleanhttp"
	lb "github.com/lockbench/lockbench"
)

// door is the way to the servers: one is asked until it does not answer, and then the next. An agent beside the client,
// which most installations have, does that for it.
type door struct {
	env     *lb.Env
	servers []*server
	at      atomic.Int64 // whom to ask, by its place
}

type server struct {
	*api.Client
	way *http.Transport
}

func newDoor(env *lb.Env) (*door, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("consul: the run has no server")
	}
	d := &door{env: env}
	d.at.Store(env.Rand.Int64N(int64(len(env.Servers))))
	for _, addr := range env.Servers {
		way := cleanhttp.DefaultPooledTransport()
		way.Proxy = nil
		c, err := api.NewClient(&api.Config{Address: addr, Transport: way})
		if err != nil {
			return nil, fmt.Errorf("consul: %w", err)
		}
		d.servers = append(d.servers, &server{c, way})
	}
	return d, nil
}

func (d *door) close() {
	for _, s := range d.servers {
		s.way.CloseIdleConnections()
	}
}

// errGone is a session that Consul does not know any more: nothing was done.
var errGone = errors.New("the session is over")

// send sends one request, and says when. It gives it up after a third of a lease. A caller who only does not want the answer any
// more gets it all the same: to leave it would make an unknown of it.
func (d *door) send(ctx context.Context, req lb.Request, name string, request func(context.Context, *server) error) (sent lb.Reading, err error) {
	err = d.through(ctx, req, name, func(ctx context.Context, at *server) error {
		sent = d.env.Clock.Mono()
		ctx, cancel := d.bounded(ctx)
		defer cancel()
		return request(ctx, at)
	})
	return sent, err
}

// bounded is ctx with an end, by the host's clock.
func (d *door) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	whole, cancel := d.env.WithTimeout(context.WithoutCancel(ctx), d.env.TTL/3)
	if !ok {
		return whole, cancel
	}
	sooner, stop := context.WithDeadline(whole, end)
	return sooner, func() { stop(); cancel() }
}

// through has the server asked whose turn it is, and the next one from then on if that has not answered, or knows nobody who leads.
// The next one would refuse what one refuses.
func (d *door) through(ctx context.Context, req lb.Request, name string, request func(context.Context, *server) error) error {
	at := d.at.Load()
	err := d.env.Send(ctx, req, name, func(ctx context.Context) error {
		return request(ctx, d.servers[int(at)%len(d.servers)])
	})
	if err == nil || lb.Refused(err) || errors.Is(err, lb.ErrNotSent) {
		return err
	}
	if isGone(err) {
		return errGone
	}
	if !isRefused(err) {
		d.at.CompareAndSwap(at, (at+1)%int64(len(d.servers)))
	}
	return fmt.Errorf("consul: %s: %w", name, err)
}

// isGone reads the one refusal that Consul has no number for.
func isGone(err error) bool {
	var said api.StatusError
	return errors.As(err, &said) && strings.Contains(said.Body, "invalid session")
}

// isRefused reports whether the server did nothing, since it does not take such a request: of who may not send it, say.
func isRefused(err error) bool {
	var said api.StatusError
	return errors.As(err, &said) && said.Code/100 == 4
}

func writing(ctx context.Context) *api.WriteOptions { return (&api.WriteOptions{}).WithContext(ctx) }
