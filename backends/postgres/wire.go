// Package postgres is what lockbench knows of PostgreSQL.
package postgres

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/wire"
)

// Language is version 3 of PostgreSQL's protocol. None of its requests is a read: a SELECT may take an
// advisory lock.
var Language = wire.Language{Name: "postgres", Begin: func() wire.Protocol { return newProtocol() }, KeepAlives: []string{ping}}

const ping = "ping"

// protocol reads messages of a type (1 byte), a length (4 bytes) that counts itself, and as many bytes. What
// only has to do with logging in is no request, nor is setting variables, which drivers do on each connection
// that they make. A statement that says nothing is a ping, which keeps the connection, and with it the lock.
//
// What goes together is one message here, since the server does the first of it before it has seen the last:
// who stops a request must stop all of it. See [protocol.roundTrip] and [protocol.answer].
type protocol struct {
	begun      bool // the client has begun to log in
	negotiates bool // whether the connection becomes an encrypted one
	open       roundTrip
	verbs      verbs
	asked      []*request // oldest first; each ends when the server is ready for the next
	copies     bool       // the client sends data, and has sent too early that its round trip is over
}

// request is one that the server is not through with. The login is one, too.
type request struct {
	name  string // "" for what is no request
	told  bool   // whether it has done what it was for
	whole bool   // all of it has been sent
	again bool   // it may be one of which the end is sent again: where it turns out to want data
}

func newProtocol() *protocol {
	return &protocol{verbs: verbs{statements: map[string]string{}, portals: map[string]string{}}}
}

// Length implements [wire.Protocol].
func (p *protocol) Length(who wire.Side, unread []byte) int {
	switch {
	case who == wire.Client && !p.begun:
		return helloLength(unread)
	case who == wire.Client:
		return p.roundTripLength(unread)
	case p.negotiates && unread[0] != errorResponse:
		if !slices.Contains([]byte{encrypts, encryptsByGSS, doesNot}, unread[0]) {
			return wire.Nonsense
		}
		return 1
	}
	return p.answerLength(unread)
}

// Read implements [wire.Protocol].
func (p *protocol) Read(who wire.Side, m []byte) ([]wire.Message, wire.Protocol) {
	switch {
	case who == wire.Client && !p.begun:
		p.begin(m)
		return nil, p
	case who == wire.Client:
		return p.ask(m), p
	case p.negotiates:
		p.negotiates = false
		if m[0] == encrypts || m[0] == encryptsByGSS {
			return nil, &wire.Turns{} // nobody can read the rest
		}
		return nil, p
	}
	return p.answer(m), p
}

func helloLength(unread []byte) int {
	if unread[0] != 0 { // TLS without a question, or no PostgreSQL
		return wire.Nonsense
	}
	if len(unread) < helloSize {
		return helloSize
	}
	n, wants := binary.BigEndian.Uint32(unread), hello(unread).wants()
	known := wants>>16 == version || wants >= wantsCancel && wants <= wantsGSS
	if n < helloSize || n > longestHello || !known {
		return wire.Nonsense
	}
	return int(n)
}

// begin reads what has no type. A connection that is made to cancel what another does has no answer.
func (p *protocol) begin(m []byte) {
	switch hello(m).wants() {
	case wantsTLS, wantsGSS:
		p.negotiates = true
	case wantsCancel:
	default:
		p.begun = true
		p.asked = append(p.asked, &request{whole: true})
	}
}

// span is how far the message at the beginning reaches, if it is of one of the types: at least, as long as
// too little of it is there.
func span(unread []byte, types string) int {
	switch {
	case len(unread) == 0:
		return 1
	case !strings.Contains(types, string(unread[:1])):
		return wire.Nonsense
	case len(unread) < headSize:
		return headSize
	}
	n := binary.BigEndian.Uint32(unread[1:])
	if n < headSize-1 || n > wire.Longest {
		return wire.Nonsense
	}
	return 1 + int(n)
}

// each calls do with the types and the contents of the messages.
func each(messages []byte, do func(kind byte, content []byte)) {
	for len(messages) > 0 {
		n := 1 + int(binary.BigEndian.Uint32(messages[1:]))
		do(messages[0], messages[headSize:n])
		messages = messages[n:]
	}
}
