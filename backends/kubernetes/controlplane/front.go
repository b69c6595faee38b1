package controlplane

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/lockbench/lockbench/backends/internal/web"
)

// way is that to the kube-apiserver of the same machine, whose certificate is its own.
var way = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}

// newFront passes requests on to the kube-apiserver at an endpoint, as `kubectl proxy` does: in the clear on one side, where
// the bench has to read what is said, and with TLS and a token on the other, which kube-apiserver does not do without.
func newFront(endpoint string) http.Handler {
	to := &url.URL{Scheme: "https", Host: endpoint}
	return &httputil.ReverseProxy{Transport: way, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}
}

// ready asks the kube-apiserver itself.
func ready(ctx context.Context, endpoint string) error {
	client := &http.Client{Transport: asFront{}}
	_, _, err := web.Ask(ctx, client, http.MethodGet, "https://"+endpoint+"/readyz", "")
	return err
}

type asFront struct{}

func (asFront) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return way.RoundTrip(r)
}
