package zksession

import (
	"context"
	"net"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends/zookeeper"
	"github.com/lockbench/lockbench/internal/wire"
)

// Wire is a connection on which requests pass the client's steps: each leaves in one
// goroutine of the library, and its answer comes to another, so that the two halves of
// [lb.Env.Send] are apart.
type Wire struct {
	net.Conn
	Env    *lb.Env
	Passes []string             // requests by their names, of which these pass
	For    func() lb.Request    // whom the requests serve
	Hear   func(message []byte) // every answer, without its length

	wire *wire.Conn
}

// NewWire is w, ready to be used.
func NewWire(w Wire) *Wire {
	w.wire = wire.New(zookeeper.Language)
	return &w
}

const (
	lengthSize = 4
	replySize  = 16 // the least, without its length
)

// Write gets whole messages, as the library writes them.
func (w *Wire) Write(p []byte) (int, error) {
	for _, m := range w.wire.Said(p) {
		if err := w.step(m, lb.Before); err != nil {
			return 0, err
		}
	}
	return w.Conn.Write(p)
}

// Read tells of what has come before the library knows: who is refused has not come to
// the step after the request. The error of that step is for whoever waits for it to find
// out.
func (w *Wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	for _, m := range w.wire.Answered(p[:n]) {
		if m.Session != "" {
			w.Env.Session(m.Session)
		}
		if !m.Failed {
			_ = w.step(m, lb.After)
		}
		if w.Hear != nil && len(m.Bytes) >= lengthSize {
			w.Hear(m.Bytes[lengthSize:])
		}
	}
	return n, err
}

func (w *Wire) step(m wire.Message, side func(name string) string) error {
	switch {
	case !slices.Contains(w.Passes, m.Request):
		return nil
	case m.KeepsAlive:
		return w.Env.Step(lb.As(context.Background(), lb.Renewal), lb.Request{}, side(m.Request))
	}
	return w.Env.Step(context.Background(), w.For(), side(m.Request))
}
