package consul

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/backends/internal/web"
	"github.com/lockbench/lockbench/internal/wire"
)

// Language is Consul's API over HTTP/1.1: of the requests those that locks are made of have a name.
var Language = wire.Language{
	Name:  "consul",
	Begin: web.Dialect{Name: nameOf, Answer: answer, KeepAlive: renew}.Begin,
	Reads: []string{read, watch, info}, KeepAlives: []string{renew},
}

const read, watch, info, renew, create = "get", "watch", "info", "renew", "create"

func nameOf(method string, at *url.URL, _ []byte) string { return RequestOf(method, at) }

// RequestOf names what is asked for, "" for what no lock is made of: its path says what, and its query what shall be done to it.
func RequestOf(method string, at *url.URL) string {
	if of, ok := strings.CutPrefix(at.Path, "/v1/session/"); ok {
		verb, _, _ := strings.Cut(of, "/")
		if slices.Contains([]string{create, renew, "destroy", info}, verb) {
			return verb
		}
		return ""
	}
	asks := at.Query()
	switch {
	case !strings.HasPrefix(at.Path, "/v1/kv/"):
		return ""
	case method == "DELETE":
		return "delete"
	case method == "PUT" && asks.Has("acquire"):
		return "acquire"
	case method == "PUT" && asks.Has("release"):
		return "release"
	case method == "PUT":
		return "put"
	case asks.Has("index"):
		return watch
	}
	return read
}

// answer says that nothing was done, or nothing is there, or which session was made.
func answer(name string, status int, body []byte) (m wire.Message) {
	m.Failed = status >= 400 || string(bytes.TrimSpace(body)) == "false"
	if name == create && !m.Failed {
		var made struct{ ID string }
		_ = json.Unmarshal(body, &made) // what is none has no name
		m.Session = made.ID
	}
	return m
}
