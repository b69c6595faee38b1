package zksession

import (
	"encoding/binary"
	"net"
	"time"
)

// Listener cuts what one side of a connection says into messages: each is its
// length (4 bytes) and as many bytes.
type Listener struct {
	// Hear is called with each message, without its length. It must not keep it.
	Hear func(message []byte)

	message []byte // what has arrived of it, with its length
}

const lengthSize = 4

// Listen takes the next bytes.
func (l *Listener) Listen(p []byte) {
	for len(p) > 0 {
		k := min(l.missing(), len(p))
		l.message, p = append(l.message, p[:k]...), p[k:]
		if l.missing() == 0 {
			l.Hear(l.message[lengthSize:])
			l.message = l.message[:0]
		}
	}
}

// missing is how many bytes the message, or at first its length, still lacks.
func (l *Listener) missing() int {
	if len(l.message) < lengthSize {
		return lengthSize - len(l.message)
	}
	return lengthSize + int(binary.BigEndian.Uint32(l.message)) - len(l.message)
}

// wire listens to what the server says. Its first message answers the request
// for a session.
type wire struct {
	net.Conn
	Listener
	session  *Session
	answered bool // the first message is over
}

func listenTo(c net.Conn, s *Session) *wire {
	w := &wire{Conn: c, session: s}
	w.Hear = w.hear
	return w
}

// Read implements [net.Conn] for one reader, as the library is.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.Listen(p[:n])
	return n, err
}

func (w *wire) hear(m []byte) {
	if !w.answered {
		w.answered = true
		w.hearSession(m)
		return
	}
	w.hearReply(m)
}

// hearSession reads a ConnectResponse: protocol version (4), timeout in ms (4),
// which is 0 where the session is refused.
func (w *wire) hearSession(m []byte) {
	if len(m) < 8 {
		return
	}
	if ms := binary.BigEndian.Uint32(m[4:]); ms > 0 {
		w.session.timeout.Store(int64(time.Duration(ms) * time.Millisecond))
	}
}

// hearReply reads a ReplyHeader: the request's number (4), the transaction (8),
// the error (4). If all that follows is a path (length, text) it is that of a new
// node, and the transaction is the one that made it.
func (w *wire) hearReply(m []byte) {
	const header = 16
	if len(m) <= header+lengthSize {
		return
	}
	xid, zxid, failed := int32(binary.BigEndian.Uint32(m)), int64(binary.BigEndian.Uint64(m[4:])), binary.BigEndian.Uint32(m[12:])
	path := m[header+lengthSize:]
	if xid > 0 && failed == 0 && path[0] == '/' && int(binary.BigEndian.Uint32(m[header:])) == len(path) {
		w.session.created.Store(string(path), zxid)
	}
}
