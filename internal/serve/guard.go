package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/lockbench/lockbench/reports"
)

// The policies of what is served. What is not ours (a page in a run's directory, which may
// come from anywhere) is shown as if it came from another site, and reaches nothing.
var (
	ourPolicy = sync.OnceValue(func() string {
		return "default-src 'none'; script-src " + hash(script()) + " " + hash(liveJS) +
			"; style-src-elem " + hash(style()) + " " + hash(serveCSS) + "; style-src-attr 'unsafe-inline'" +
			"; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	})
	filePolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)

func style() string  { s, _ := reports.Inline(); return s }
func script() string { _, s := reports.Inline(); return s }

func hash(inline string) string {
	sum := sha256.Sum256([]byte(inline))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// guard lets only those requests through that the site is for, and has every answer say what
// a browser may do with it.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", ourPolicy())
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache") // asks each time whether it is still the same
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "lockbench serve only shows: GET and HEAD are all that it answers", http.StatusMethodNotAllowed)
		case !s.public && !loopback(r.Host):
			http.Error(w, "lockbench serve answers only under a name of this machine's loopback, such as localhost or 127.0.0.1; --public lifts that", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// loopback reports whether the host of a request, with or without a port, can only be this
// machine itself.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ip := net.ParseIP(strings.Trim(host, "[]")); ip != nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
