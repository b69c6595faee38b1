//go:build apiserver

package kubernetes

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/tools/leaderelection"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/kubernetes"
)

// election is one acquisition: a run of an elector, which ends when it has given up what it has.
type election struct {
	env     *lb.Env
	way     *way
	req     lb.Request
	elector *leaderelection.LeaderElector
	lease   *lb.Lease

	ctx    context.Context
	cancel context.CancelFunc
	led    chan struct{} // closed when it leads
	done   chan struct{} // closed when the run is over
	unsure atomic.Bool   // whether the server may have carried out a request that takes the lock, or may yet
	gave   atomic.Bool   // whether it has answered that it has carried out a release
	failed bool          // a release has been told that the lock was not given back
}

func (e *election) run() {
	defer close(e.done)
	e.elector.Run(e.ctx)
}

// lead is what the library calls when it leads, with a context that ends when it does not any more: where it could not renew the
// lease, that is after it has tried to give it back.
func (e *election) lead(ctx context.Context) {
	e.lease = e.env.Grant(e.req, 0, 0)
	close(e.led)
	<-ctx.Done()
	if e.ctx.Err() == nil {
		e.lease.Lose("the library has ended its context")
	}
}

func (e *election) awaitLead(ctx context.Context) error {
	select {
	case <-e.led:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// state is whether it has led, and was told that it does not any more.
func (e *election) state() (led, lost bool) {
	select {
	case <-e.led:
		return true, !e.lease.Valid()
	default:
		return false, false
	}
}

func (e *election) await(ctx context.Context) error {
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errRefused is an answer that says that the server has not done what was asked.
var errRefused = errors.New("kubernetes: the server has refused")

// RoundTrip is the library's way to the servers, with each request about the Lease a step.
func (e *election) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	var body []byte
	if r.GetBody != nil {
		copied, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		if body, err = io.ReadAll(copied); err != nil {
			return nil, err
		}
	}
	name := backend.RequestOf(r.Method, r.URL, body)
	err = e.env.Send(lb.As(r.Context(), e.actor()), e.req, name, func(context.Context) (err error) {
		takes, before := name == "acquire", e.unsure.Load()
		if takes {
			e.unsure.Store(true)
		}
		if answer, err = e.way.RoundTrip(r); err != nil {
			return err
		}
		if answer.StatusCode < http.StatusBadRequest {
			if name == "release" {
				e.gave.Store(true)
			}
			return nil
		}
		// That it has refused this one says nothing of one before, whose answer did not come.
		if takes && answer.StatusCode < http.StatusInternalServerError {
			e.unsure.Store(before)
		}
		return errRefused
	})
	if err != nil && !errors.Is(err, errRefused) {
		if answer != nil {
			_ = answer.Body.Close()
		}
		return nil, err
	}
	return answer, nil
}

// actor is who makes the library's requests at this moment: its caller waits for it to lead, and to give the lock back.
func (e *election) actor() lb.Actor {
	select {
	case <-e.led:
		if e.ctx.Err() == nil {
			return lb.Renewal
		}
	default:
	}
	return lb.Main
}
