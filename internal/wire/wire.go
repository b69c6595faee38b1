// Package wire reads what a client and a server of a lock service say to each other on
// one TCP connection: the protocols of Redis, ZooKeeper, etcd and MySQL, without any
// driver. It sends nothing and changes nothing.
package wire

import (
	"bytes"
	"cmp"
	"sync"
)

// Conn reads one connection, both ways. Its methods may be called from two goroutines.
// The zero value is ready.
type Conn struct {
	mu       sync.Mutex
	protocol protocol // nil as long as nobody can tell
	held     [2][]byte
}

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

// longest is how many bytes a message may have.
const longest = 16 << 20

// side is who speaks.
type side int

const (
	client side = iota
	server
)

// protocol is how to read one connection.
type protocol interface {
	// length is that of the message at the beginning of what is not read yet, or at least
	// so long: 0 where nothing can be told. It is nonsense where that is no message. Asked
	// again before the message is read, it has the same bytes and more.
	length(who side, unread []byte) int
	// read gets a message, and returns what there is to say about it: nothing, as a rule.
	// next reads the rest of the connection.
	read(who side, message []byte) (notes []Message, next protocol)
}

const nonsense = -1

// Said takes the next bytes of the client and returns the messages that are complete now,
// in order.
func (c *Conn) Said(b []byte) []Message { return c.hear(client, b) }

// Answered takes the next bytes of the server.
func (c *Conn) Answered(b []byte) []Message { return c.hear(server, b) }

// Rest is what is held back, since it is not complete.
func (c *Conn) Rest() (fromClient, fromServer []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.held[client]), bytes.Clone(c.held[server])
}

func (c *Conn) hear(who side, b []byte) (all []Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	unread := append(c.held[who], b...)
	if c.protocol == nil {
		c.protocol = recognize(who, unread)
	}
	for c.protocol != nil && len(unread) > 0 {
		n := c.protocol.length(who, unread)
		if n == nonsense || cmp.Or(n, len(unread)) > longest {
			c.protocol = raw{}
			continue
		}
		if n == 0 || n > len(unread) {
			break
		}
		var notes []Message
		notes, c.protocol = c.protocol.read(who, unread[:n])
		all = append(all, over(unread[:n:n], notes)...)
		unread = unread[n:]
	}
	if len(unread) == 0 {
		unread = nil // what was returned is the receiver's
	}
	c.held[who] = unread
	return all
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
