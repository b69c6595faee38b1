// Package serve shows a directory of runs in a browser: what there is, the newest first,
// the page of each, and its files. Pages follow what still goes on. It reads only what
// package rundir knows, has no memory beyond that but a cache, and writes nothing.
package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"
)

// Server is a directory of runs as a web site.
type Server struct {
	dir    string
	public bool
	list   list
	pages  pageCache
}

// New serves what lies in dir, which need not hold anything yet. One that is not public
// answers only who asks for a name of this machine's loopback, so that no page from
// elsewhere can read it through a name of its own (DNS rebinding).
func New(dir string, public bool) *Server {
	return &Server{dir: dir, public: public, list: list{dir: dir, known: map[string]*entry{}}, pages: pageCache{made: map[string]*page{}}}
}

// Handler answers requests: / is the list, /runs/NAME/ the page of what lies in the
// directory NAME, what is below that its files, and /metrics is for Prometheus.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.front)
	mux.HandleFunc("GET /runs/{path...}", s.below)
	mux.HandleFunc("GET /metrics", s.metrics)
	return s.guard(mux)
}

// HTTP answers requests as [http.Server] does, with bounds for who is slow to ask.
func (s *Server) HTTP() *http.Server {
	return &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
}

// tagOf is an entity tag that another content does not have.
func tagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}
