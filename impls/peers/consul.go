package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/consul/api"
	"github.com/hashicorp/go-cleanhttp"
	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/consul"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

// ConsulLock is the lock of Consul's own library:
//
//	l, err := client.LockOpts(&api.LockOptions{Key: key, SessionTTL: ttl})
//	lost, err := l.Lock(stop)
//	l.Unlock()
//
// Each lock has a session of its own. The library waits for up to 15 s until it sees that its caller does not want the lock any
// more, and for 5 s where a lock-delay is in force. It has no token, does not say for how long the lock is good, and its
// Unlock says nothing of whether it was: the channel tells, at once where the library can't ask for a moment, after which it
// renews the session all the same, until Unlock is called. A client asks one server, as if that were the agent beside it.
func ConsulLock() lb.Impl { return consulLock{} }

type consulLock struct{}

func (consulLock) Info() lb.Info {
	return lb.Info{
		Name:       "peer-consul-lock",
		Doc:        "api.Lock of Consul's library: a session for each lock, with Consul's own lock-delay",
		Source:     "github.com/hashicorp/consul/api v1.31.2, lock.go",
		Topologies: []string{"consul", "consul-3"},
		Requests:   []string{"create", "get", "acquire", "watch", "renew", "release", "destroy"},
		Reads:      []string{"get", "watch"},
		Own:        []string{"create", "renew"},
		Takes:      "acquire",
		MinTTL:     21 * time.Second, // after two of them, a lock-delay and a pause of the library it is not stuck
		Traits:     lb.Traits{Renewing: true, Push: true, Session: true, LostNotice: true},
		Expect:     consulLockExpect(),
	}
}

// consulLockExpect: no request of the library has an end of its own, so that one to a server that is silent tells its client
// nothing; but Consul waits for the lock-delay until somebody else is granted the lock.
func consulLockExpect() []lb.Expectation {
	const (
		source   = "github.com/hashicorp/consul/api v1.31.2, lock.go"
		sessions = `Consul documentation, "Sessions and Distributed Locks"`
	)
	untold := []lb.Outcome{lb.Broken, lb.Check, lb.Safe}
	told := []lb.Outcome{lb.Safe, lb.Check}
	return compose.Except(compose.OnSession(compose.OnMonotonicClock(compose.OnQuorum(compose.Lease()), "Consul")), slices.Concat(
		compose.Under(lb.Expectation{Outcomes: untold,
			Why: "the lock gives no bound, and who is silent, or hears nothing, is not told that the session has ended; whether that is for longer than twice the TTL and the lock-delay is chance", Source: source},
			"pause-holder", "cut-holder", "pause@before-write", "cut-rejoin", "lost-grant", "late-grant"),
		compose.Under(lb.Expectation{Outcomes: untold,
			Why: "a server that is silent lets its client wait for the answer of whether it still holds the lock; its node is taken for dead, and the session ends", Source: source},
			"cut-leader", "pause-leader", "deaf-leader", "cut-halves", "failover"),
		compose.Under(lb.Expectation{Outcomes: told,
			Why: "the question whether the lock is held fails, and the library says that it is lost, whether it is or not", Source: source},
			"restart-server", "kill-server", "kill-leader", "failover-by-command", "rolling-restart", "kill-two"),
		compose.Under(lb.Expectation{Outcomes: told,
			Why: "the library hears at once that the session has ended, and the lock-delay is longer than that takes", Source: sessions},
			"expire", "expire-holder", "expire-all", "expire@before-write", "expire@*"),
		[]lb.Expectation{compose.KeptAlive(),
			{Fault: "flushall", Outcomes: []lb.Outcome{lb.Broken, lb.Check},
				Why: "whoever deletes the key of a lock frees it for the next, perhaps before the holder is told", Source: sessions}})...)
}

func (consulLock) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	if len(env.Servers) == 0 {
		return nil, errors.New("consul: the run has no server")
	}
	c := &consulLockClient{env: env, way: cleanhttp.DefaultPooledTransport()}
	c.way.Proxy = nil
	var err error
	c.consul, err = api.NewClient(&api.Config{Address: env.Servers[env.Rand.IntN(len(env.Servers))], HttpClient: &http.Client{Transport: c}})
	if err != nil {
		return nil, fmt.Errorf("consul: %w", err)
	}
	if _, err := c.consul.Status().LeaderWithQueryOptions((&api.QueryOptions{}).WithContext(ctx)); err != nil {
		return nil, fmt.Errorf("consul: connect to %v: %w", env.Servers, err)
	}
	return lb.Again(lb.Exclusive(c)), nil
}

type consulLockClient struct {
	env    *lb.Env
	way    *http.Transport
	consul *api.Client
	req    atomic.Pointer[lb.Request] // the latest, whom the library's requests serve
	held   lb.Held[*consulAttempt]
}

// RoundTrip is the library's way to the server, with each request of a lock a step.
func (c *consulLockClient) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	name := backend.RequestOf(r.Method, r.URL)
	if name == "" {
		return c.way.RoundTrip(r)
	}
	req, ctx := lb.Request{}, r.Context()
	if serves := c.req.Load(); serves != nil {
		req = *serves
	}
	switch name {
	case "renew":
		ctx = lb.As(ctx, lb.Renewal)
	case "destroy":
		ctx = lb.As(ctx, lb.CleanUp)
	}
	err = c.env.Send(ctx, req, name, func(context.Context) error {
		if answer, err = c.way.RoundTrip(r); err != nil {
			return err
		}
		return c.hear(name, answer)
	})
	if errors.Is(err, lb.ErrHeld) || errors.Is(err, lb.ErrLost) || errors.Is(err, errFailed) { // which the answer says
		err = nil
	}
	if err != nil {
		return nil, err // never both
	}
	return answer, nil
}

// errFailed is an answer that says that the server could not do it, or does not know.
var errFailed = errors.New("consul: the server failed")

// hear reads the answer before the library does.
func (c *consulLockClient) hear(name string, answer *http.Response) error {
	text, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(text))
	if err != nil {
		return err
	}
	switch no := string(bytes.TrimSpace(text)) == "false"; {
	case answer.StatusCode >= http.StatusInternalServerError:
		return errFailed
	case name == "create":
		var made struct{ ID string }
		if json.Unmarshal(text, &made) == nil && made.ID != "" {
			c.env.Session(made.ID)
		}
	case name == "acquire" && no:
		return lb.ErrHeld
	case name == "release" && no:
		return lb.ErrLost
	}
	return nil
}

// consulAttempt is one api.Lock, and its Lock that may go on after nobody wants it.
type consulAttempt struct {
	lock *api.Lock
	locking
	stop  chan struct{} // closed when nobody wants it any more
	lost  <-chan struct{}
	lease *lb.Lease
	deaf  chan struct{} // closed when nobody wants to hear any more that it is lost
}

// Acquire implements [lb.Client].
func (c *consulLockClient) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	how := &api.LockOptions{Key: lb.Prefix + ":" + url.PathEscape(req.Lock), Value: []byte(req.Owner), SessionTTL: c.env.TTL.String()}
	if req.Try {
		how.LockTryOnce, how.LockWaitTime = true, time.Nanosecond
	}
	lock, err := c.consul.LockOpts(how)
	if err != nil {
		return nil, lb.NoEffect(err)
	}
	c.req.Store(&req)
	a := &consulAttempt{lock: lock, locking: locking{done: make(chan struct{})}, stop: make(chan struct{}), deaf: make(chan struct{})}
	c.held.Put(req.Owner, a)
	go func() {
		defer close(a.done)
		a.lost, a.err = a.lock.Lock(a.stop)
	}()
	if err := c.env.Wait(ctx, req, "lock", a.await); err != nil {
		shut(a.stop)
		return nil, fmt.Errorf("consul: lock: %w", err)
	}
	if a.lost == nil {
		c.held.Drop(req.Owner)
		return nil, lb.ErrHeld
	}
	a.lease = c.env.Grant(req, 0, 0)
	go func() {
		select {
		case <-a.lost:
			a.lease.Lose("the library has closed its channel")
		case <-a.deaf:
		}
	}()
	return a.lease, nil
}

// Release implements [lb.Client]. It first waits for a Lock that was given up, which may have taken the lock before it saw that.
func (c *consulLockClient) Release(ctx context.Context, req lb.Request) error {
	a, ok := c.held.Get(req.Owner)
	if !ok {
		return lb.ErrLost
	}
	if err := a.await(ctx); err != nil && a.lease == nil {
		select {
		case <-a.done: // with an error: the library destroys the session, which else ends by itself
			c.held.Drop(req.Owner)
			return lb.ErrLost
		default:
			return fmt.Errorf("consul: release: %w", err)
		}
	}
	if a.lost == nil {
		c.held.Drop(req.Owner)
		return lb.ErrLost
	}
	c.req.Store(&req)
	told := a.lease == nil || !a.lease.Valid()
	shut(a.deaf)
	unlocked := make(chan error, 1)
	go func() { unlocked <- a.lock.Unlock() }()
	var err error
	select {
	case err = <-unlocked:
	case <-ctx.Done():
		err = ctx.Err()
	}
	switch {
	case err == nil && told:
		c.held.Drop(req.Owner)
		return lb.ErrLost
	case err == nil:
		c.held.Drop(req.Owner)
		return nil
	case errors.Is(err, api.ErrLockNotHeld): // an Unlock before failed, and the session is destroyed, or ends by itself
		c.held.Drop(req.Owner)
		return lb.ErrReleased
	}
	return fmt.Errorf("consul: unlock: %w", err)
}

// shut closes a channel that may be closed already.
func shut(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// Close implements [lb.Client]. The library renews what it holds until Unlock. A Lock that still goes on, perhaps for as long as
// a question of the library's, is not waited for: what it takes is given back then.
func (c *consulLockClient) Close() error {
	ctx, cancel := c.env.Detached(context.Background())
	defer cancel()
	c.req.Store(nil)
	for _, a := range c.held.All() {
		shut(a.stop)
		shut(a.deaf)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			<-a.done
			if a.lost != nil {
				_ = a.lock.Unlock() // else its session ends by itself
			}
		}()
		select {
		case <-a.done:
			select {
			case <-ended:
			case <-ctx.Done():
			}
		default:
		}
	}
	c.way.CloseIdleConnections()
	return nil
}
