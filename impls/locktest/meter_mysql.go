package locktest

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// mysqlProtocol hears the packets that begin an exchange, which have the number 0;
// those of the login have others. A driver sets variables on each connection that it
// makes, and that is no request either.
func mysqlProtocol() *protocol {
	const (
		header                      = 4 // length (3 bytes), number
		quit, query, closeStatement = 0x01, 0x03, 0x19
	)
	return &protocol{
		size: func(b []byte) int {
			if len(b) < header {
				return 0
			}
			return header + int(binary.LittleEndian.Uint32(b)&0xffffff)
		},
		request: func(b []byte) string {
			if b[header-1] != 0 || len(b) == header {
				return ""
			}
			switch b[header] {
			case quit, closeStatement:
				return ""
			case query:
				verb, _, _ := strings.Cut(string(b[header+1:]), " ")
				if strings.EqualFold(verb, "SET") {
					return ""
				}
				return verb
			}
			return fmt.Sprintf("command %#x", b[header])
		},
	}
}
