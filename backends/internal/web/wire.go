// Package web is what backends share whose servers are asked over HTTP/1.1.
package web

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// Dialect is what the requests of a backend mean. Each is answered before the next on a connection.
type Dialect struct {
	// Name is that of a request, "" for what no lock is made of.
	Name func(method string, at *url.URL, body []byte) string
	// Answer reads the answer to a request that has a name.
	Answer func(name string, status int, body []byte) wire.Message
	// KeepAlive is the name of the request that keeps a session alive, and nothing else; "" for none.
	KeepAlive string
}

// Begin reads a new connection.
func (d Dialect) Begin() wire.Protocol { return &protocol{Dialect: d} }

// protocol reads messages of HTTP/1.1.
type protocol struct {
	Dialect
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
	case err != nil || size < 0 || size > wire.Longest: // one of a server that ends with the connection is none of a lock's
		return wire.Nonsense
	}
	return body + size
}

var methods = []string{"GET ", "PUT ", "POST ", "PATCH ", "DELETE ", "HEAD ", "OPTIONS "}

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
		r := p.request(message)
		p.asked = append(p.asked, r)
		if r.name == "" {
			return nil, p
		}
		return []wire.Message{{Request: r.name, KeepsAlive: r.name == p.KeepAlive}}, p
	}
	if status(message) < 200 || len(p.asked) == 0 { // it goes on
		return nil, p
	}
	name := p.asked[0].name
	p.asked = p.asked[1:]
	if name == "" {
		return nil, p
	}
	m := p.Answer(name, status(message), content(message))
	m.Request, m.KeepsAlive = name, name == p.KeepAlive
	return []wire.Message{m}, p
}

// request reads what is asked for.
func (p *protocol) request(message []byte) (r request) {
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
	r.name = p.Name(f[0], at, content(message))
	return r
}

// content is what follows the head, as it was sent.
func content(message []byte) []byte {
	_, body, _ := bytes.Cut(message, headEnd)
	return body
}
