package zksession

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync"

	lb "github.com/lockbench/lockbench"
)

// The operations that the library sends by itself: what keeps a session alive, and
// what ends it.
const (
	Ping = 11
	End  = -11
)

// Wire is a connection on which requests pass the client's steps, those of the
// operations that it has names for: each leaves in one goroutine of the library, and
// its answer comes to another, so that the two halves of [lb.Env.Send] are apart.
// What sets up the connection has no name, nor have the watches that are set again.
type Wire struct {
	net.Conn
	Env   *lb.Env
	Names map[int32]string
	For   func() lb.Request    // whom the requests serve
	Hear  func(message []byte) // every answer, without its length; it must not keep it

	heard []byte // of an answer, with its length
	met   bool   // the answer to the request for a session has come

	mu    sync.Mutex
	begun bool             // the request for a session has been sent
	asked map[int32]string // what has not been answered, by number
}

const (
	lengthSize  = 4
	requestSize = 12 // the least: its length, number and operation
	replySize   = 16 // the least, without its length
	pingNumber  = -2
)

// Write gets one message at a time, as the library writes them.
func (w *Wire) Write(p []byte) (int, error) {
	if number, name := w.request(p); name != "" {
		if err := w.step(number, lb.Before(name)); err != nil {
			return 0, err
		}
	}
	return w.Conn.Write(p)
}

func (w *Wire) request(p []byte) (number int32, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun || len(p) < requestSize {
		w.begun = true
		return 0, ""
	}
	number, name = int32(binary.BigEndian.Uint32(p[4:])), w.Names[int32(binary.BigEndian.Uint32(p[8:]))]
	if name != "" {
		if w.asked == nil {
			w.asked = map[int32]string{}
		}
		w.asked[number] = name
	}
	return number, name
}

func (w *Wire) step(number int32, name string) error {
	if number == pingNumber {
		return w.Env.Step(lb.As(context.Background(), lb.Renewal), lb.Request{}, name)
	}
	return w.Env.Step(context.Background(), w.For(), name)
}

// Read implements [net.Conn] for one reader, as the library is.
func (w *Wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.listen(p[:n])
	return n, err
}

// listen cuts what the server says into messages: each is its length and as many
// bytes.
func (w *Wire) listen(p []byte) {
	for len(p) > 0 {
		k := min(w.missing(), len(p))
		w.heard, p = append(w.heard, p[:k]...), p[k:]
		if w.missing() == 0 {
			w.answer(w.heard[lengthSize:])
			w.heard = w.heard[:0]
		}
	}
}

// missing is how many bytes the message, or at first its length, still lacks.
func (w *Wire) missing() int {
	if len(w.heard) < lengthSize {
		return lengthSize - len(w.heard)
	}
	return lengthSize + int(binary.BigEndian.Uint32(w.heard)) - len(w.heard)
}

// answer gets a message that begins with the number of the request, and has an error
// after 8 more bytes: who is refused has not come to the step after it. The error of
// the step is for whoever waits for it to find out.
func (w *Wire) answer(message []byte) {
	if !w.met {
		w.met = true
		w.meet(message)
	}
	if len(message) >= replySize {
		number, refused := int32(binary.BigEndian.Uint32(message)), binary.BigEndian.Uint32(message[12:]) != 0
		w.mu.Lock()
		name := w.asked[number]
		delete(w.asked, number)
		w.mu.Unlock()
		if name != "" && !refused {
			_ = w.step(number, lb.After(name))
		}
	}
	if w.Hear != nil {
		w.Hear(message)
	}
}

// meet reads a ConnectResponse: protocol version (4), timeout (4), which is 0 where the
// session is refused, the session's id (8), the length of its password (4), the password.
func (w *Wire) meet(m []byte) {
	const password = 20
	if len(m) >= password && binary.BigEndian.Uint32(m[4:]) > 0 {
		n := min(int(binary.BigEndian.Uint32(m[16:])), len(m)-password)
		w.Env.Session(fmt.Sprintf("%x:%x", binary.BigEndian.Uint64(m[8:]), m[password:password+n]))
	}
}
