package locktest

import (
	"bytes"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// meter counts the round trips of one connection. In most protocols a request
// that follows an answer begins a new one. HTTP/2 (gRPC) also sends pings and
// window updates of its own, so there it counts the messages of the client:
// frames of data that are not empty.
type meter struct {
	trips *atomic.Int64

	mu       sync.Mutex
	begun    bool // the client has sent something
	asking   bool // and nothing has been answered since
	http2    bool
	header   []byte // the part of a frame's header that has been read
	skipping int    // bytes that are left of the frame's payload
}

// preface is what a client of HTTP/2 sends first.
var preface = []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

const (
	frameHeader = 9 // length (3), type, flags, stream (4)
	frameData   = 0
)

func (m *meter) request(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.begun && bytes.HasPrefix(b, preface) {
		m.http2, b = true, b[len(preface):]
	}
	m.begun = true
	if m.http2 {
		m.frames(b)
		return
	}
	if !m.asking {
		m.asking = true
		m.trips.Add(1)
	}
}

func (m *meter) answer([]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asking = false
}

// frames walks over the frames in b, which may begin and end inside of one.
func (m *meter) frames(b []byte) {
	for len(b) > 0 {
		if m.skipping > 0 {
			n := min(m.skipping, len(b))
			m.skipping -= n
			b = b[n:]
			continue
		}
		n := min(frameHeader-len(m.header), len(b))
		m.header, b = append(m.header, b[:n]...), b[n:]
		if len(m.header) < frameHeader {
			return
		}
		m.skipping = int(binary.BigEndian.Uint32(append([]byte{0}, m.header[:3]...)))
		if m.header[3] == frameData && m.skipping > 0 {
			m.trips.Add(1)
		}
		m.header = m.header[:0]
	}
}
