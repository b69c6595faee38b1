package locktest

import (
	"encoding/binary"
	"strings"
)

// preface is what a client of HTTP/2 sends first.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// http2Protocol hears the messages of gRPC, alone or in a stream: frames of data that
// are not empty. (A message of more than 16 kB, which no lock sends, would be several.)
func http2Protocol() *protocol {
	const header, kind, data = 9, 3, 0 // length (3 bytes), kind, flags, stream (4)
	return &protocol{
		size: func(b []byte) int {
			switch {
			case strings.HasPrefix(string(b[:min(len(b), len(preface))]), preface[:4]):
				return len(preface)
			case len(b) < header:
				return 0
			}
			return header + int(binary.BigEndian.Uint32(b)>>8)
		},
		request: func(b []byte) string {
			if string(b) != preface && b[kind] == data && len(b) > header {
				return "message"
			}
			return ""
		},
	}
}
