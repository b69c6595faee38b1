package peers

import (
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/zksession"
)

// zkOps names the requests that zk.Lock makes, by their numbers in the protocol.
var zkOps = map[uint32]string{1: "create", 2: "delete", 3: "exists", 4: "get", 12: "children"}

// dial wraps the library's connection, so that each request is a step.
func (c *zkLockClient) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, timeout)
	if err != nil {
		return nil, err
	}
	w := &zkWire{Conn: conn, step: c.step, asked: map[uint32]string{}}
	w.replies.Hear = w.reply
	return w, nil
}

// step passes a step of the request that the client is at. The error, which says
// that it is over, is for the caller of Lock to find out.
func (c *zkLockClient) step(name string) {
	req := c.req.Load()
	if req == nil {
		req = &lb.Request{}
	}
	_ = c.env.Step(context.Background(), name, *req)
}

// zkWire is a connection that knows what is asked and answered on it.
type zkWire struct {
	net.Conn
	step    func(string)
	replies zksession.Listener

	mu    sync.Mutex
	begun bool              // the request for a session has been sent
	asked map[uint32]string // requests that have not been answered, by number
}

// Write gets one message at a time: its length, number and operation (4 bytes each).
func (w *zkWire) Write(p []byte) (int, error) {
	if name := w.request(p); name != "" {
		w.step("before-" + name)
	}
	return w.Conn.Write(p)
}

func (w *zkWire) request(p []byte) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun || len(p) < 12 {
		w.begun = true
		return ""
	}
	name := zkOps[binary.BigEndian.Uint32(p[8:])]
	if name != "" {
		w.asked[binary.BigEndian.Uint32(p[4:])] = name
	}
	return name
}

func (w *zkWire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.replies.Listen(p[:n])
	return n, err
}

// reply gets a message that begins with the number of the request.
func (w *zkWire) reply(message []byte) {
	if len(message) < 4 {
		return
	}
	number := binary.BigEndian.Uint32(message)
	w.mu.Lock()
	name := w.asked[number]
	delete(w.asked, number)
	w.mu.Unlock()
	if name != "" {
		w.step("after-" + name)
	}
}
