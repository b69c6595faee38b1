package zksession

import (
	"encoding/binary"
	"time"
)

// answers reads what the library keeps to itself. The first answer on a connection
// is that to the request for a session.
type answers struct {
	session *Session
	begun   bool
}

func (a *answers) hear(m []byte) {
	if !a.begun {
		a.begun = true
		a.hearSession(m)
		return
	}
	a.hearReply(m)
}

// hearSession reads a ConnectResponse: protocol version (4), timeout in ms (4),
// which is 0 where the session is refused.
func (a *answers) hearSession(m []byte) {
	if len(m) < 8 {
		return
	}
	if ms := binary.BigEndian.Uint32(m[4:]); ms > 0 {
		a.session.timeout.Store(int64(time.Duration(ms) * time.Millisecond))
	}
}

// hearReply reads a ReplyHeader: the request's number (4), the transaction (8),
// the error (4). If all that follows is a path (length, text) it is that of a new
// node, and the transaction is the one that made it.
func (a *answers) hearReply(m []byte) {
	if len(m) <= replySize+lengthSize {
		return
	}
	xid, zxid, failed := int32(binary.BigEndian.Uint32(m)), int64(binary.BigEndian.Uint64(m[4:])), binary.BigEndian.Uint32(m[12:])
	path := m[replySize+lengthSize:]
	if xid > 0 && failed == 0 && path[0] == '/' && int(binary.BigEndian.Uint32(m[replySize:])) == len(path) {
		a.session.created.Store(string(path), zxid)
	}
}
