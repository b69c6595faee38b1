package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/lockbench/lockbench/backends/internal/web"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

// paths is a language in which a request is called by its path; those of /none have no name.
var paths = wire.Language{Name: "paths", Begin: web.Dialect{
	Name: func(_ string, at *url.URL, _ []byte) string {
		if at.Path == "/none" {
			return ""
		}
		return at.Path[1:]
	},
	Answer: func(_ string, status int, body []byte) wire.Message {
		return wire.Message{Failed: status >= 400 || string(body) == "no"}
	},
}.Begin}

// TestDialect: where a message ends, and to which request an answer belongs.
func TestDialect(t *testing.T) {
	asks, answers := wiretest.Asks, wiretest.Answers
	const get, ok = "GET /a HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for name, tc := range map[string]struct {
		turns []wiretest.Turn
		want  string
	}{
		"told by its body": {[]wiretest.Turn{asks(get), answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")}, "a =a!"},
		"told by its head": {[]wiretest.Turn{asks(get), answers("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")}, "a =a!"},
		"in chunks":        {[]wiretest.Turn{asks(get), answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nA\r\n0123456789\r\n0\r\n\r\n"), asks(get), answers(ok)}, "a =a a =a"},
		"without a body":   {[]wiretest.Turn{asks(get), answers("HTTP/1.1 204 No Content\r\n\r\n"), asks(get), answers(ok)}, "a =a a =a"},
		"of HEAD":          {[]wiretest.Turn{asks("HEAD /a HTTP/1.1\r\n\r\n"), answers("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), asks(get), answers(ok)}, "a =a a =a"},
		"after a go on":    {[]wiretest.Turn{asks("PUT /a HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"), answers("HTTP/1.1 100 Continue\r\n\r\n"), answers("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")}, "a =a!"},
		"without a name":   {[]wiretest.Turn{asks("GET /none HTTP/1.1\r\n\r\n"), answers(ok), asks(get), answers(ok)}, "a =a"},
		"of two at once":   {[]wiretest.Turn{asks(get, "GET /b HTTP/1.1\r\n\r\n"), answers(ok, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")}, "a b =a =b!"},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, paths, tc.turns, tc.want) })
	}
}

func TestAsk(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.Error(w, "nothing here", http.StatusNotFound)
			return
		}
		w.Header().Set("X-Sent", r.Header.Get("Content-Type"))
		_, _ = w.Write([]byte("yes"))
	}))
	defer s.Close()
	head, text, err := web.Ask(t.Context(), web.Once, http.MethodPut, s.URL+"/there", "{}")
	if err != nil || string(text) != "yes" || head.Get("X-Sent") != "application/json" {
		t.Errorf("%v, %q, %v", head, text, err)
	}
	if _, _, err := web.Ask(t.Context(), web.Once, http.MethodGet, s.URL+"/gone", ""); !web.Missing(err) {
		t.Errorf("%v, which is not told from any other error", err)
	}
}
