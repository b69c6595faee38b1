package locktest

import "sync"

// meter hears the requests on one connection, whatever the protocol: messages of
// the client that want an answer of the lock service. What only sets up, keeps
// alive or ends the connection is none.
type meter struct {
	hear func(request string)

	mu       sync.Mutex
	protocol *protocol
	unread   []byte // the beginning of a message
}

// protocol is how to read what a client says.
type protocol struct {
	// size is the length of the message at the beginning, 0 while too little is there
	// to tell.
	size func([]byte) int
	// request names what a message asks for; "" where it is no request.
	request func([]byte) string
	// answered is called when the server has said something; nil where that does not
	// matter.
	answered func()
}

// said takes the next bytes of the client.
func (m *meter) said(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unread = append(m.unread, b...)
	if m.protocol == nil {
		m.protocol = spoken(m.unread)
	}
	for m.protocol != nil && len(m.unread) > 0 {
		n := m.protocol.size(m.unread)
		if n == 0 || n > len(m.unread) {
			return
		}
		if name := m.protocol.request(m.unread[:n]); name != "" {
			m.hear(name)
		}
		m.unread = m.unread[n:]
	}
}

// answered takes note that the server has said something. Only that of MySQL speaks first.
func (m *meter) answered([]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.protocol == nil && len(m.unread) == 0 {
		m.protocol = mysqlProtocol()
	}
	if m.protocol != nil && m.protocol.answered != nil {
		m.protocol.answered()
	}
}

// spoken recognizes a protocol by the first bytes of a client; nil while there are
// too few.
func spoken(b []byte) *protocol {
	switch {
	case len(b) < 4:
		return nil
	case b[0] == '*':
		return redisProtocol()
	case string(b[:4]) == preface[:4]:
		return http2Protocol()
	case b[0] == 0 && b[1] == 0:
		return zooKeeperProtocol()
	}
	return otherProtocol()
}

// otherProtocol is any that takes turns: what follows an answer is a new request.
func otherProtocol() *protocol {
	asking := false
	return &protocol{
		size: func(b []byte) int { return len(b) },
		request: func([]byte) string {
			if asking {
				return ""
			}
			asking = true
			return "request"
		},
		answered: func() { asking = false },
	}
}
