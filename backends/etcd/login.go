package etcd

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// tokenAge is how old a token of etcd gets; one that is not used for five minutes is void.
const tokenAge = time.Minute

// gateway adds to every request the token that etcd wants to see where users log in. close
// ends its connections.
func gateway(r lab.Relay) (h http.Handler, close func()) {
	over := new(http.Protocols)
	over.SetHTTP2(true)
	over.SetUnencryptedHTTP2(true)
	t := &tokens{relay: r}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		t.forget() // a server that was started again knows none
		return r.Dial(ctx)
	}
	to := &url.URL{Scheme: "http", Host: r.Addr()}
	if r.TLS() {
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
	relay lab.Relay
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
	ctx, cancel := context.WithTimeout(ctx, lab.LoginBound)
	defer cancel()
	c, err := client(ctx, t.relay, "", "")
	if err != nil {
		return ""
	}
	defer c.Close()
	as := t.relay.Account()
	answer, err := c.Authenticate(ctx, as.User, as.Password)
	if err != nil {
		return ""
	}
	t.last, t.at = answer.Token, time.Now()
	return t.last
}
