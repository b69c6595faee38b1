package conform

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// proxy stands between one client and one server. It hears the client's requests,
// and it can do to the client's connections what the client's death or a broken
// network would do, without a process to kill.
type proxy struct {
	server string
	speaks wire.Language
	l      net.Listener
	keeps  []net.Conn // a connection of its own, by which its port stays its own

	mu    sync.Mutex
	mode  mode
	conns map[net.Conn]bool
	heard []string // the requests
}

// mode is what the proxy does to connections.
type mode int

const (
	forwards mode = iota
	refuses       // existing connections are reset, new ones refused
	hangs         // connections stay open, and nothing goes through any more
	loses         // requests go through, and their answers are lost
)

func newProxy(server string, speaks wire.Language) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &proxy{server: server, speaks: speaks, l: l, conns: map[net.Conn]bool{}}
	if err := p.keep(); err != nil {
		p.close()
		return nil, fmt.Errorf("proxy: %w", err)
	}
	go p.serve()
	return p, nil
}

// keep connects the proxy to itself. As long as a connection has the port, the kernel gives it
// to nobody else: what refuses connections goes on refusing them.
func (p *proxy) keep() error {
	for _, open := range []func() (net.Conn, error){
		func() (net.Conn, error) { return net.DialTimeout("tcp", p.addr(), time.Second) },
		p.l.Accept,
	} {
		c, err := open()
		if err != nil {
			return err
		}
		p.keeps = append(p.keeps, c)
	}
	return nil
}

func (p *proxy) addr() string { return p.l.Addr().String() }

// set changes the mode. Connections that were kept from something do not come back
// to life: it is lost.
func (p *proxy) set(m mode) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m == refuses || p.mode == hangs || p.mode == loses {
		for c := range p.conns {
			abort(c)
		}
	}
	if m == refuses {
		_ = p.l.Close() // what it was for is over
	}
	p.mode = m
}

func (p *proxy) is(modes ...mode) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(modes, p.mode)
}

// abort closes with a reset, as the kernel does for a connection of the dead.
func abort(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

func (p *proxy) serve() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return
		}
		go p.connect(c)
	}
}

func (p *proxy) connect(client net.Conn) {
	if !p.add(client) {
		return
	}
	if p.is(hangs) {
		return // accepted and never answered; closed with the proxy
	}
	server, err := net.DialTimeout("tcp", p.server, time.Second)
	if err != nil {
		abort(client)
		return
	}
	if !p.add(server) {
		abort(client)
		return
	}
	c := wire.New(p.speaks)
	go p.copy(server, client, func(b []byte) { p.hear(c.Said(b)) }, hangs)
	p.copy(client, server, func(b []byte) { c.Answered(b) }, hangs, loses)
}

func (p *proxy) hear(said []wire.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range said {
		if m.Request != "" {
			p.heard = append(p.heard, m.Request)
		}
	}
}

// requests are those that it has heard.
func (p *proxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.heard)
}

func (p *proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == refuses {
		abort(c)
		return false
	}
	p.conns[c] = true
	return true
}

// copy forwards from one to the other until one of them ends. In the modes that let
// nothing through it reads and throws away: the sender is not told.
func (p *proxy) copy(to, from net.Conn, hear func([]byte), swallow ...mode) {
	defer p.end(to, from)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			hear(buf[:n])
			if !p.is(swallow...) {
				if _, err := to.Write(buf[:n]); err != nil {
					return
				}
			}
		}
		if err != nil {
			return
		}
	}
}

// end closes a pair of connections; but while the proxy hangs, the death of one
// end is not told to the other.
func (p *proxy) end(pair ...net.Conn) {
	if p.is(hangs) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range pair {
		_ = c.Close()
		delete(p.conns, c)
	}
}

func (p *proxy) close() {
	_ = p.l.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	for _, c := range p.keeps {
		_ = c.Close()
	}
}
