package zksession

import (
	"encoding/binary"
	"net"
	"time"
)

// wire listens to what the server says. Every message is its length (4 bytes)
// and as many bytes; the first of a connection answers the request for a session.
type wire struct {
	net.Conn
	session  *Session
	message  []byte // what has arrived of it, with its length
	answered bool   // the first message is over
}

const lengthSize = 4

// Read implements [net.Conn] for one reader, as the library is.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		k := min(w.missing(), len(rest))
		w.message, rest = append(w.message, rest[:k]...), rest[k:]
		if w.missing() == 0 {
			w.hear(w.message[lengthSize:])
			w.message = w.message[:0]
		}
	}
	return n, err
}

// missing is how many bytes the message, or at first its length, still lacks.
func (w *wire) missing() int {
	if len(w.message) < lengthSize {
		return lengthSize - len(w.message)
	}
	return lengthSize + int(binary.BigEndian.Uint32(w.message)) - len(w.message)
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
