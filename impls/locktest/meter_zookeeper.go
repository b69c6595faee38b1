package locktest

import (
	"encoding/binary"
	"fmt"
)

// zooKeeperProtocol hears requests. Those for a session, for credentials and for the
// watches that are set again only set up the connection. A ping is one: it keeps the
// session, and with it the lock; so is the end of a session, which frees it.
func zooKeeperProtocol() *protocol {
	const (
		header = 12 // length, number, operation (4 bytes each)
		ping   = -2 // its number
	)
	return &protocol{
		size: func(b []byte) int {
			if len(b) < 4 {
				return 0
			}
			return 4 + int(binary.BigEndian.Uint32(b))
		},
		request: func(b []byte) string {
			if len(b) < header {
				return ""
			}
			xid, op := int32(binary.BigEndian.Uint32(b[4:])), int32(binary.BigEndian.Uint32(b[8:]))
			if xid <= 0 && xid != ping {
				return ""
			}
			if name := zooKeeperOps[op]; name != "" {
				return name
			}
			return fmt.Sprint("operation ", op)
		},
	}
}

var zooKeeperOps = map[int32]string{
	-11: "closeSession", 1: "create", 2: "delete", 3: "exists", 4: "getData", 5: "setData", 8: "getChildren", 9: "sync", 11: "ping",
	12: "getChildren2", 14: "multi", 15: "create2", 19: "createContainer", 21: "createTTL",
}
