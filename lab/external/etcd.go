package external

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
)

// tokenAge is how old a token of etcd gets; one that is not used for five minutes is void.
const tokenAge = time.Minute

// etcdGateway adds to every request the token that etcd wants to see where users log in. close
// ends its connections.
func etcdGateway(r *relay) (h http.Handler, close func()) {
	over := new(http.Protocols)
	over.SetHTTP2(true)
	over.SetUnencryptedHTTP2(true)
	t := &tokens{relay: r}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		t.forget() // a server that was started again knows none
		return r.dial(ctx)
	}
	to := &url.URL{Scheme: "http", Host: r.addr}
	if r.config.tls != nil {
		to.Scheme = "https"
	}
	transport := &http.Transport{Protocols: over, DialContext: dial, DialTLSContext: dial}
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // a watch says something now and then
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.Header.Set("token", t.current(p.In.Context()))
		},
		ModifyResponse: func(answer *http.Response) error {
			t.look(answer)
			return nil
		},
	}, transport.CloseIdleConnections
}

// The result of a call, as gRPC has it: behind the answer, or instead of one at its beginning.
const (
	grpcStatus, grpcMessage = "Grpc-Status", "Grpc-Message"
	grpcUnauthenticated     = "16"
)

// look forgets the token that etcd does not know any more. A result at the beginning is moved
// to the end, since the beginning alone is no whole answer when somebody else passes it on.
func (t *tokens) look(answer *http.Response) {
	status := answer.Header.Get(grpcStatus)
	if status == "" {
		return
	}
	if status == grpcUnauthenticated {
		t.forget()
	}
	answer.Trailer = http.Header{}
	for _, name := range []string{grpcStatus, grpcMessage, "Grpc-Status-Details-Bin"} {
		if v := answer.Header.Values(name); len(v) > 0 {
			answer.Trailer[name] = v
			answer.Header.Del(name)
		}
	}
}

// tokens logs in again when the last login is old, or void.
type tokens struct {
	relay *relay
	mu    sync.Mutex
	last  string
	at    time.Time
}

func (t *tokens) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = time.Time{}
}

// current is "" where etcd does not let us in: it says so itself then.
func (t *tokens) current(ctx context.Context) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.at) < tokenAge {
		return t.last
	}
	ctx, cancel := context.WithTimeout(ctx, dialBound)
	defer cancel()
	c, err := t.relay.etcd(ctx, false)
	if err != nil {
		return ""
	}
	defer c.Close()
	answer, err := c.Authenticate(ctx, t.relay.config.User, t.relay.config.Password)
	if err != nil {
		return ""
	}
	t.last, t.at = answer.Token, time.Now()
	return t.last
}

// etcd is a client of the server, which has logged in or not.
func (r *relay) etcd(ctx context.Context, in bool) (*clientv3.Client, error) {
	how := clientv3.Config{Endpoints: []string{"http://" + r.addr}, Context: ctx, Logger: zap.NewNop(), DialTimeout: visitBound,
		DialOptions: []grpc.DialOption{grpc.WithDisableRetry(), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return r.open(ctx) })}}
	if in {
		how.Username, how.Password = r.config.User, r.config.Password
	}
	return clientv3.New(how)
}

type etcdVisit struct {
	*clientv3.Client
	addr string
}

func visitEtcd(ctx context.Context, r *relay) (visit, error) {
	c, err := r.etcd(ctx, r.config.User != "")
	if err != nil {
		return nil, err
	}
	return etcdVisit{c, r.addr}, nil
}

// answers reads by way of the leader.
func (v etcdVisit) answers(ctx context.Context) error {
	_, err := v.Get(ctx, mark)
	return err
}

func (v etcdVisit) version(ctx context.Context) (string, error) {
	status, err := v.Status(ctx, "http://"+v.addr)
	if err != nil {
		return "", err
	}
	return "etcd " + status.Version, nil
}

// etcdPrefixes are what keys of locks begin with; python-etcd3 puts its own before the name.
var etcdPrefixes = []string{lb.Prefix, "/locks/" + lb.Prefix}

func (v etcdVisit) kept(ctx context.Context) (names []string, by string, err error) {
	for _, prefix := range etcdPrefixes {
		got, err := v.Get(ctx, prefix, clientv3.WithPrefix())
		if errors.Is(err, rpctypes.ErrPermissionDenied) && prefix != lb.Prefix {
			continue // who has no right to it leaves nothing there
		}
		if err != nil {
			return nil, "", err
		}
		for _, kv := range got.Kvs {
			if string(kv.Key) == mark {
				by = string(kv.Value)
			} else {
				names = append(names, string(kv.Key))
			}
		}
	}
	return names, by, nil
}

func (v etcdVisit) take(ctx context.Context, by string) error {
	done, err := v.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(mark), "=", 0)).Then(clientv3.OpPut(mark, by)).Commit()
	if err == nil && !done.Succeeded {
		err = errTaken
	}
	return err
}

func (v etcdVisit) remove(ctx context.Context, names []string) error {
	for _, name := range names {
		if _, err := v.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (v etcdVisit) leave(ctx context.Context, by string) error {
	_, err := v.Txn(ctx).If(clientv3.Compare(clientv3.Value(mark), "=", by)).Then(clientv3.OpDelete(mark)).Commit()
	return err
}

func (v etcdVisit) close() { _ = v.Close() }
