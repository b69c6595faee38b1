package etcd

import (
	"encoding/binary"
	"path"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lockbench/lockbench/internal/wire"
)

// Language is what etcd speaks.
var Language = wire.Language{
	Name: "etcd", Begin: func() wire.Protocol { return newHTTP2() },
	Reads:      []string{"get", watch, unwatch},
	KeepAlives: []string{keepAlive},
}

// calls are those of gRPC that are not over, by their streams.
type calls map[uint32]*call

// call is one. Each message of the client is a request, which may come in several frames:
// it is one when the last has come, since until then no server can do it. Where there are
// several, as in a stream that keeps leases alive, they are answered in their order.
type call struct {
	name   string
	pieces [2]pieces
	ended  [2]bool
	asked  []string
}

func (c calls) begin(stream uint32, method string) {
	c[stream] = &call{name: RequestOf(method)}
}

// data is not ok where it is no gRPC, or compressed. That of a call that is over is
// heard by nobody.
func (c calls) data(who wire.Side, stream uint32, b []byte) (notes []wire.Message, ok bool) {
	of := c[stream]
	if of == nil {
		return nil, true
	}
	messages, ok := of.pieces[who].add(b)
	for _, m := range messages {
		if who == wire.Client {
			notes = append(notes, of.ask(m))
		} else {
			notes = append(notes, of.answer(m)...)
		}
	}
	return notes, ok
}

// end is when one side says no more. What the server has not answered until then has
// failed.
func (c calls) end(who wire.Side, stream uint32) (notes []wire.Message) {
	of := c[stream]
	if of == nil {
		return nil
	}
	of.ended[who] = true
	if who == wire.Server {
		for _, name := range of.asked {
			notes = append(notes, wire.Message{Request: name, Failed: true, KeepsAlive: name == keepAlive})
		}
		of.asked = nil
	}
	if of.ended[wire.Client] && of.ended[wire.Server] {
		delete(c, stream)
	}
	return notes
}

// pieces cuts what goes one way into messages: a flag, which says that it is compressed, a
// length of 4 bytes, and as many bytes.
type pieces struct{ unread []byte }

func (p *pieces) add(b []byte) (messages [][]byte, ok bool) {
	const header = 5
	p.unread = append(p.unread, b...)
	for len(p.unread) >= header {
		n := header + int(binary.BigEndian.Uint32(p.unread[1:]))
		if p.unread[0] != 0 || n > wire.Longest {
			return messages, false
		}
		if n > len(p.unread) {
			break
		}
		messages = append(messages, p.unread[header:n])
		p.unread = p.unread[n:]
	}
	return messages, true
}

// RequestOf is what a request by this method of gRPC is called.
func RequestOf(method string) string {
	method = path.Base(method)
	if name := requestNames[method]; name != "" {
		return name
	}
	return strings.ToLower(method)
}

var requestNames = map[string]string{
	"Range": "get", "DeleteRange": "delete", "LeaseGrant": "grant", "LeaseRevoke": "revoke", "LeaseKeepAlive": keepAlive,
}

const keepAlive, watch, unwatch = "keep-alive", "watch", "unwatch"

func (c *call) ask(message []byte) wire.Message {
	const cancels = 2
	name := c.name
	if name == watch && fields(message)[cancels] != 0 {
		name = unwatch
	}
	c.asked = append(c.asked, name)
	return wire.Message{Request: name, KeepsAlive: name == keepAlive}
}

// answer tells of a lease that begins, and of one that is over; of a transaction whose
// condition did not hold; and events from watches that began.
func (c *call) answer(message []byte) []wire.Message {
	const (
		succeeded, lease, ttl     = 2, 2, 3
		created, canceled, events = 3, 4, 11
	)
	f, m := fields(message), wire.Message{Request: c.name, KeepsAlive: c.name == keepAlive}
	switch c.name {
	case "txn":
		m.Failed = f[succeeded] == 0
	case "grant":
		m.Session = strconv.FormatInt(int64(f[lease]), 16)
	case keepAlive:
		m.Failed = int64(f[ttl]) <= 0
	case watch:
		switch {
		case f[events] != 0:
			return nil
		case f[canceled] != 0 && f[created] == 0:
			m.Request = unwatch
		default:
			m.Failed = f[canceled] != 0
		}
	}
	i := slices.Index(c.asked, m.Request)
	if i < 0 {
		return nil // nobody asked
	}
	c.asked = slices.Delete(c.asked, i, i+1)
	return []wire.Message{m}
}

// fields are those of a message in protobuf: numbers, and 1 for whatever else is there.
func fields(b []byte) map[protowire.Number]uint64 {
	all := map[protowire.Number]uint64{}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		b = b[n:]
		value := uint64(1)
		if kind == protowire.VarintType {
			value, _ = protowire.ConsumeVarint(b)
		}
		if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
			break
		}
		all[number], b = value, b[n:]
	}
	return all
}
