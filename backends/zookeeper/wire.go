package zookeeper

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/lockbench/lockbench/internal/wire"
)

// Language is what ZooKeeper speaks.
var Language = wire.Language{
	Name: "zookeeper", Begin: func() wire.Protocol { return &protocol{} },
	Reads:      []string{"exists", "get", "children", "sync", "check-watches"},
	KeepAlives: []string{ping},
	OnKeys:     []string{"set", "multi"},
}

// protocol reads requests and replies, which belong together by a number. What asks for a
// session, brings credentials or sets watches again only sets up the connection. A ping is
// a request: it keeps the session, and with it the lock; so is the end of a session, which
// frees it.
type protocol struct {
	met   [2]bool // what each side says first is about the session
	asked []request
}

type request struct {
	number int32
	name   string
}

const ping, pingNumber = "ping", -2

func (z *protocol) Length(_ wire.Side, unread []byte) int {
	const size = 4
	switch {
	case unread[0] != 0: // a word of four letters, or TLS
		return wire.Nonsense
	case len(unread) < size:
		return 0
	}
	return size + int(binary.BigEndian.Uint32(unread))
}

func (z *protocol) Read(who wire.Side, message []byte) ([]wire.Message, wire.Protocol) {
	first := !z.met[who]
	z.met[who] = true
	message = message[4:]
	switch {
	case who == wire.Client && first:
		return nil, z
	case who == wire.Client:
		return z.ask(message), z
	case first:
		return meet(message), z
	}
	return z.answer(message), z
}

// ask gets what begins with a number and an operation (4 bytes each).
func (z *protocol) ask(m []byte) []wire.Message {
	if len(m) < 8 {
		return nil
	}
	number, op := int32(binary.BigEndian.Uint32(m)), int32(binary.BigEndian.Uint32(m[4:]))
	if number <= 0 && number != pingNumber || setsUp[op] {
		return nil
	}
	name := names[op]
	if name == "" {
		name = fmt.Sprint("operation ", op)
	}
	z.asked = append(z.asked, request{number, name})
	return []wire.Message{{Request: name, KeepsAlive: number == pingNumber}}
}

// answer gets what begins with the number of the request, that of the server's last change
// (8 bytes) and an error (4 bytes).
func (z *protocol) answer(m []byte) []wire.Message {
	if len(m) < 16 {
		return nil
	}
	number, failed := int32(binary.BigEndian.Uint32(m)), binary.BigEndian.Uint32(m[12:]) != 0
	i := slices.IndexFunc(z.asked, func(r request) bool { return r.number == number })
	if i < 0 {
		return nil // nobody asked: a watch
	}
	name := z.asked[i].name
	z.asked = slices.Delete(z.asked, i, i+1)
	return []wire.Message{{Request: name, Failed: failed, KeepsAlive: number == pingNumber}}
}

// meet reads a ConnectResponse: protocol version (4), timeout (4), which is 0 where the
// session is refused, the session's id (8), the length of its password (4), the password.
func meet(m []byte) []wire.Message {
	const password = 20
	if len(m) < password || binary.BigEndian.Uint32(m[4:]) == 0 {
		return nil
	}
	n := min(int(binary.BigEndian.Uint32(m[16:])), len(m)-password)
	return []wire.Message{{Session: fmt.Sprintf("%x:%x", binary.BigEndian.Uint64(m[8:]), m[password:password+n])}}
}

// setsUp are authentication and watches that are set again, which the client in Java
// numbers like requests.
var setsUp = map[int32]bool{100: true, 101: true, 102: true, 105: true}

var names = map[int32]string{
	1: "create", 15: "create", 19: "create", 21: "create", // also containers, and nodes with a TTL
	2: "delete", 3: "exists", 4: "get", 5: "set", 8: "children", 12: "children", 9: "sync", 11: ping, 14: "multi", 22: "multi",
	17: "check-watches", 18: "remove-watches", -11: "close",
}
