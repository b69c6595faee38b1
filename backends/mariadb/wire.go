package mariadb

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/backends/internal/sqlserver"
	"github.com/lockbench/lockbench/internal/wire"
)

// Language is what MySQL and MariaDB speak. None of its requests is a read: a SELECT may take a lock.
var Language = wire.Language{Name: "mysql", Begin: func() wire.Protocol { return &protocol{} }, KeepAlives: []string{ping}}

// protocol reads packets. Those of a client that begin an exchange have the number 0, and
// answers begin with the number 1; those of the login have others. A driver sets variables
// on each connection that it makes, and that is no request. A ping is one, since it keeps
// the connection, and with it the lock.
type protocol struct {
	begun bool     // the server has, by its greeting
	met   bool     // the client has begun to log in
	asked []string // oldest first, "" for what is no request
}

const packetHeader = 4 // length (3 bytes), number

const errPacket = 0xff

const ping = "ping"

// noAttributes is what a client puts before a statement that may send attributes with it, and has none.
const noAttributes = "\x00\x01"

func (m *protocol) Length(who wire.Side, unread []byte) int {
	const version = 10
	switch {
	case !m.begun && who == wire.Client: // it waits for the greeting
		return wire.Nonsense
	case len(unread) <= packetHeader && !m.begun, len(unread) < packetHeader:
		return 0
	case !m.begun && (unread[packetHeader-1] != 0 || unread[packetHeader] != version && unread[packetHeader] != errPacket):
		return wire.Nonsense
	}
	return packetHeader + int(binary.LittleEndian.Uint32(unread)&0xffffff)
}

func (m *protocol) Read(who wire.Side, packet []byte) ([]wire.Message, wire.Protocol) {
	m.begun = true
	number, body := packet[packetHeader-1], packet[packetHeader:]
	switch {
	case len(body) == 0:
		return nil, m
	case who == wire.Server:
		return m.answer(number, body), m
	case !m.met:
		m.met = true
		if illegible(body) {
			return nil, &wire.Turns{}
		}
		return nil, m
	case number == 0:
		return m.ask(body), m
	}
	return nil, m
}

// illegible reports whether a client that begins to log in wants the rest encrypted or
// compressed.
func illegible(login []byte) bool {
	const compressed, encrypted, zstd = 1 << 5, 1 << 11, 1 << 26
	return len(login) >= 4 && binary.LittleEndian.Uint32(login)&(compressed|encrypted|zstd) != 0
}

func (m *protocol) ask(command []byte) []wire.Message {
	const (
		quit, sendData, closeStatement                 = 0x01, 0x18, 0x19
		query, prepare, execute                        = 0x03, 0x16, 0x17
		useDatabase, changeUser, options, reset, pings = 0x02, 0x11, 0x1b, 0x1f, 0x0e
	)
	var name string
	switch command[0] {
	case quit, sendData, closeStatement:
		return nil // these have no answer
	case useDatabase, changeUser, options, reset:
	case pings:
		name = ping
	case query:
		if name = sqlserver.Verb(strings.TrimPrefix(string(command[1:]), noAttributes)); name == "set" {
			name = ""
		}
	case prepare:
		name = "prepare"
	case execute:
		name = "execute"
	default:
		name = fmt.Sprintf("command %#x", command[0])
	}
	m.asked = append(m.asked, name)
	if name == "" {
		return nil
	}
	return []wire.Message{{Request: name, KeepsAlive: name == ping}}
}

func (m *protocol) answer(number byte, body []byte) []wire.Message {
	if number != 1 || len(m.asked) == 0 {
		return nil
	}
	name := m.asked[0]
	m.asked = m.asked[1:]
	if name == "" {
		return nil
	}
	return []wire.Message{{Request: name, Failed: body[0] == errPacket, KeepsAlive: name == ping}}
}
