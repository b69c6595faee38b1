package consul

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// Language is Consul's API over HTTP/1.1: of the requests those that locks are made of have a name, and each is answered
// before the next on a connection.
var Language = wire.Language{
	Name: "consul", Begin: func() wire.Protocol { return &protocol{} },
	Reads: []string{read, watch, info}, KeepAlives: []string{renew},
}

const read, watch, info, renew, create = "get", "watch", "info", "renew", "create"

// protocol reads messages of HTTP/1.1.
type protocol struct {
	asked []request // that are not answered, oldest first
}

type request struct {
	name string // "" for what no lock is made of
	head bool   // its answer has no body, whatever it says
}

const longestHead = 64 << 10

var headEnd = []byte("\r\n\r\n")

// Length implements [wire.Protocol].
func (p *protocol) Length(who wire.Side, unread []byte) int {
	if !begins(who, unread) {
		return wire.Nonsense
	}
	end := bytes.Index(unread, headEnd)
	switch {
	case end < 0 && len(unread) > longestHead:
		return wire.Nonsense
	case end < 0:
		return 0
	}
	body := end + len(headEnd)
	head := fields(unread[:end])
	if who == wire.Server && p.bodiless(unread) {
		return body
	}
	if strings.EqualFold(head["transfer-encoding"], "chunked") {
		return chunks(unread, body)
	}
	size, err := strconv.Atoi(head["content-length"])
	switch {
	case head["content-length"] == "" && who == wire.Client:
		return body
	case err != nil || size < 0 || size > wire.Longest: // one of a server that ends with the connection is none of Consul's
		return wire.Nonsense
	}
	return body + size
}

var methods = []string{"GET ", "PUT ", "POST ", "DELETE ", "HEAD ", "OPTIONS "}

// begins reports whether a message can begin so.
func begins(who wire.Side, b []byte) bool {
	words := methods
	if who == wire.Server {
		words = []string{"HTTP/1."}
	}
	return slices.ContainsFunc(words, func(w string) bool { n := min(len(w), len(b)); return string(b[:n]) == w[:n] })
}

// fields are those of a message's head, by their names in small letters.
func fields(head []byte) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(string(head)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			all[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
		}
	}
	return all
}

// bodiless reports whether an answer has no body, whatever its head says.
func (p *protocol) bodiless(answer []byte) bool {
	code := status(answer)
	return code < 200 || code == 204 || code == 304 || len(p.asked) > 0 && p.asked[0].head
}

func status(answer []byte) int {
	line, _, _ := bytes.Cut(answer, []byte("\r\n"))
	f := strings.Fields(string(line))
	if len(f) < 2 {
		return 0
	}
	code, _ := strconv.Atoi(f[1]) // 0 is no status
	return code
}

// chunks is where a body of chunks ends that begins at a place.
func chunks(b []byte, at int) int {
	for {
		end := bytes.Index(b[at:], []byte("\r\n"))
		switch {
		case end < 0 && len(b)-at > len("ffffffff\r\n"):
			return wire.Nonsense
		case end < 0:
			return 0
		}
		size, err := strconv.ParseUint(string(b[at:at+end]), 16, 31)
		if err != nil || size > wire.Longest {
			return wire.Nonsense
		}
		at += end + 2 + int(size) + 2
		if size == 0 {
			return at
		}
		if at > len(b) {
			return 0
		}
	}
}

// Read implements [wire.Protocol].
func (p *protocol) Read(who wire.Side, message []byte) ([]wire.Message, wire.Protocol) {
	if who == wire.Client {
		r := requestOf(message)
		p.asked = append(p.asked, r)
		if r.name == "" {
			return nil, p
		}
		return []wire.Message{{Request: r.name, KeepsAlive: r.name == renew}}, p
	}
	if status(message) < 200 || len(p.asked) == 0 { // it goes on
		return nil, p
	}
	name := p.asked[0].name
	p.asked = p.asked[1:]
	if name == "" {
		return nil, p
	}
	m := wire.Message{Request: name, KeepsAlive: name == renew, Failed: refuses(message)}
	if name == create && !m.Failed {
		var made struct{ ID string }
		_ = json.Unmarshal(content(message), &made) // what is none has no name
		m.Session = made.ID
	}
	return []wire.Message{m}, p
}

// requestOf reads the first line: its path says what is asked for, and its query what shall be done to it.
func requestOf(message []byte) (r request) {
	line, _, _ := bytes.Cut(message, []byte("\r\n"))
	f := strings.Fields(string(line))
	if len(f) < 2 {
		return r
	}
	r.head = f[0] == "HEAD"
	at, err := url.ParseRequestURI(f[1])
	if err != nil {
		return r
	}
	r.name = RequestOf(f[0], at)
	return r
}

// RequestOf names what is asked for, "" for what no lock is made of.
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

// refuses reports whether an answer says that nothing was done, or nothing is there.
func refuses(answer []byte) bool {
	return status(answer) >= 400 || string(bytes.TrimSpace(content(answer))) == "false"
}

func content(message []byte) []byte {
	_, body, _ := bytes.Cut(message, headEnd)
	return body
}
