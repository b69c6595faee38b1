// Package wire reads what a client and a server of a lock service say to each other on
// one TCP connection, without any driver. It sends nothing and changes nothing.
//
// Who reads a connection is told which [Language] it is in; nobody guesses it from bytes,
// since the first ones of several protocols look alike.
package wire

import (
	"bytes"
	"cmp"
	"sync"
)

// Conn reads one connection, both ways. Its methods may be called from two goroutines.
type Conn struct {
	mu       sync.Mutex
	protocol Protocol
	begun    bool // a message was read
	held     [2][]byte
}

// New reads a connection on which the language is spoken.
func New(l Language) *Conn { return &Conn{protocol: l.begin()} }

// Message is one as it goes over the wire, or a piece of the connection where that can't
// be read.
type Message struct {
	// Bytes of all messages, one after the other, are what was said: nothing is lost. They
	// are the receiver's to keep. Where one frame of HTTP/2 has several requests, all but
	// the last are messages without bytes.
	Bytes []byte
	// Request is what the client asks for, "" where it is no request: what only sets up or
	// ends the connection is none. Of the server, it is the request that is answered, ""
	// for what nobody asked for, and for all that follows the begin of an answer.
	Request string
	// Failed is the server's: the request did not do what it was for.
	Failed bool
	// KeepsAlive says that the request, also where it is answered, keeps a session or lease
	// alive, and nothing else.
	KeepsAlive bool
	// Session is the server's: one that locks end with begins, by the name that
	// [lockbench.Env.Session] wants.
	Session string
}

// Said takes the next bytes of the client and returns the messages that are complete now,
// in order.
func (c *Conn) Said(b []byte) []Message { return c.hear(Client, b) }

// Answered takes the next bytes of the server.
func (c *Conn) Answered(b []byte) []Message { return c.hear(Server, b) }

// Rest is what is held back, since it is not complete.
func (c *Conn) Rest() (fromClient, fromServer []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.held[Client]), bytes.Clone(c.held[Server])
}

func (c *Conn) hear(who Side, b []byte) (all []Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	unread := append(c.held[who], b...)
	for len(unread) > 0 {
		n := c.protocol.Length(who, unread)
		if n == Nonsense || cmp.Or(n, len(unread)) > Longest {
			c.protocol = c.otherwise()
			continue
		}
		if n == 0 || n > len(unread) {
			break
		}
		var notes []Message
		notes, c.protocol = c.protocol.Read(who, unread[:n])
		c.begun = true
		all = append(all, over(unread[:n:n], notes)...)
		unread = unread[n:]
	}
	if len(unread) == 0 {
		unread = nil // what was returned is the receiver's
	}
	c.held[who] = unread
	return all
}

// otherwise is how to go on where the language is not spoken. Who did not speak it from the
// begin speaks another: TLS, or an older one.
func (c *Conn) otherwise() Protocol {
	if c.begun {
		return Raw{}
	}
	return &Turns{}
}

// over are the bytes with what there is to say about them. They come last, so that who
// passes messages on has done so with all that they contain.
func over(b []byte, notes []Message) []Message {
	if len(notes) == 0 {
		return []Message{{Bytes: b}}
	}
	notes[len(notes)-1].Bytes = b
	return notes
}
