package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/wire"
)

// gate stands between one program and one server: it passes everything on, and has the
// requests pass the client's steps. What is held at a step is held with all that follows it on
// its connection, as it is where a library's only thread stands there.
type gate struct {
	server string
	speaks wire.Language
	place  int // among several servers, from 1; 0 where there is but one
	client *client
	l      net.Listener
	dial   context.Context
	end    context.CancelFunc

	mu    sync.Mutex
	conns map[net.Conn]bool // nil when it is closed
}

func newGate(server string, speaks wire.Language, place int, c *client) (*gate, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for %s: %w", server, err)
	}
	g := &gate{server: server, speaks: speaks, place: place, client: c, l: l, conns: map[net.Conn]bool{}}
	g.dial, g.end = context.WithCancel(context.Background())
	go g.serve()
	return g, nil
}

func (g *gate) addr() string { return g.l.Addr().String() }

func (g *gate) serve() {
	for {
		c, err := g.l.Accept()
		if err != nil {
			return
		}
		go g.connect(c.(*net.TCPConn))
	}
}

// connect joins a connection of the program's with one to the server. One that can't be had
// is reset, as the server's kernel would do; a program that waits for a server that does not
// answer waits here.
func (g *gate) connect(client *net.TCPConn) {
	if !g.keep(client) {
		abort(client)
		return
	}
	conn, err := new(net.Dialer).DialContext(g.dial, "tcp", g.server)
	if err != nil {
		g.drop(client)
		abort(client)
		return
	}
	server := conn.(*net.TCPConn)
	if !g.keep(server) {
		abort(server)
		return
	}
	p := &pair{gate: g, client: client, server: server, wire: wire.New(g.speaks)}
	go func() { p.copy(server, client, p.said); p.ended() }()
	p.copy(client, server, p.answered)
	p.ended()
}

// pair is a connection of the program's and the one to the server that it goes on in.
type pair struct {
	gate           *gate
	client, server *net.TCPConn
	wire           *wire.Conn

	mu    sync.Mutex
	ends  int
	gone  bool     // the server has said all
	asked []moment // requests that were not answered, by name
}

// moment is whom a request was for when it left.
type moment struct {
	name string
	ctx  context.Context
	req  lb.Request
}

// copy passes on what one end says until it has said all; pass hears it first.
func (p *pair) copy(to, from *net.TCPConn, pass func(io.Writer, []byte) error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && pass(to, buf[:n]) != nil {
			abort(from)
			abort(to)
			return
		}
		if err != nil && from == p.server {
			p.leave()
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = to.CloseWrite()
			return
		case err != nil:
			abort(to)
			return
		}
	}
}

// errGone ends a connection that the program still writes to, and the server does not read.
var errGone = errors.New("the server has closed this connection")

// leave notes that the server has closed its end.
func (p *pair) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
}

// ended closes both when both have said all.
func (p *pair) ended() {
	p.mu.Lock()
	p.ends++
	both := p.ends == 2
	p.mu.Unlock()
	if both {
		p.gate.drop(p.client)
		p.gate.drop(p.server)
	}
}

// said passes on the client's messages, each behind the step before it.
func (p *pair) said(to io.Writer, b []byte) error {
	for _, m := range p.wire.Said(b) {
		if m.Request != "" {
			at := p.gate.client.moment(m)
			if p.gate.place > 0 {
				at.ctx = lb.To(at.ctx, p.gate.place)
			}
			p.mu.Lock()
			gone := p.gone
			p.asked = append(p.asked, at)
			p.mu.Unlock()
			if gone { // it reaches nobody, so nobody need wait for it
				return errGone
			}
			_ = p.gate.client.env.Step(at.ctx, at.req, lb.Before(m.Request)) // its context does not end
		}
		if _, err := to.Write(m.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// answered passes on the server's messages, each behind the step after the request that it
// answers, if that did what it was for.
func (p *pair) answered(to io.Writer, b []byte) error {
	for _, m := range p.wire.Answered(b) {
		if c := p.gate.client; m.Session != "" && c.info.Traits.Session { // else it is none that a lock ends with
			c.env.Session(m.Session)
		}
		if at, ok := p.answers(m.Request); ok && !m.Failed {
			_ = p.gate.client.env.Step(at.ctx, at.req, lb.After(m.Request))
		}
		if _, err := to.Write(m.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// answers is the oldest request of that name that waits for its answer.
func (p *pair) answers(name string) (moment, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, at := range p.asked {
		if at.name == name && name != "" {
			p.asked = append(p.asked[:i:i], p.asked[i+1:]...)
			return at, true
		}
	}
	return moment{}, false
}

// moment is whom a request that is about to leave is for: the call that goes on, or what the
// last one has left. What keeps a session alive is nobody's call's.
func (c *client) moment(m wire.Message) moment {
	s := c.serves.Load()
	at := moment{name: m.Request, ctx: s.ctx, req: s.req}
	if s.over || m.KeepsAlive {
		at.ctx = lb.As(at.ctx, lb.Renewal)
	}
	return at
}

func (g *gate) keep(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.conns == nil {
		return false
	}
	g.conns[c] = true
	return true
}

func (g *gate) drop(c net.Conn) {
	g.mu.Lock()
	delete(g.conns, c)
	g.mu.Unlock()
	_ = c.Close()
}

// close ends all connections, as the program's death would.
func (g *gate) close() {
	_ = g.l.Close()
	g.end()
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.conns {
		_ = c.Close()
	}
	g.conns = nil
}

// abort closes with a reset.
func abort(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
