package explore

import (
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/lockbench/lockbench/internal/wire"
)

// relay stands between one client and one server, so that the client can die, and lose an
// answer, as the server would see it.
type relay struct {
	server string
	l      net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool // nil when it is closed
	loses *sync.Once        // takes the next answer to a request, of this relay or of another
	moved uint64            // bytes, either way
	heard int               // answers to requests
}

func newRelay(server string) (*relay, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("explore: %w", err)
	}
	r := &relay{server: server, l: l, conns: map[net.Conn]bool{}}
	go r.serve()
	return r, nil
}

func (r *relay) addr() string { return r.l.Addr().String() }

func (r *relay) serve() {
	for {
		c, err := r.l.Accept()
		if err != nil {
			return
		}
		go r.connect(c)
	}
}

func (r *relay) connect(client net.Conn) {
	server, err := net.Dial("tcp", r.server)
	if err != nil {
		_ = client.Close()
		return
	}
	if !r.keep(client, server) {
		return
	}
	said := &wire.Conn{}
	go func() {
		r.copy(server, client, func(b []byte) bool { said.Said(b); return true })
		r.drop(client, server)
	}()
	r.copy(client, server, func(b []byte) bool { return r.passes(said.Answered(b)) })
	r.drop(client, server)
}

// passes reports whether what the server says may pass. An answer that is lost is lost with all
// of the client's connections.
func (r *relay) passes(said []wire.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range said {
		if m.Request == "" || m.KeepsAlive {
			continue
		}
		took := false
		if r.loses != nil {
			r.loses.Do(func() { took = true })
			r.loses = nil
		}
		if took {
			r.cut()
			return false
		}
		r.heard++
	}
	return true
}

// answered is how many answers to requests have come through.
func (r *relay) answered() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heard
}

func (r *relay) copy(to io.Writer, from io.Reader, hear func([]byte) bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		r.count(n)
		if n > 0 && hear(buf[:n]) {
			if _, e := to.Write(buf[:n]); e != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *relay) count(n int) {
	r.mu.Lock()
	r.moved += uint64(n)
	r.mu.Unlock()
}

// passed is how many bytes went through.
func (r *relay) passed() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moved
}

// connected reports whether the client has a connection here.
func (r *relay) connected() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns) > 0
}

func (r *relay) lose(one *sync.Once) {
	r.mu.Lock()
	r.loses = one
	r.mu.Unlock()
}

func (r *relay) keep(pair ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range pair {
		if r.conns == nil {
			_ = c.Close()
			continue
		}
		r.conns[c] = true
	}
	return r.conns != nil
}

func (r *relay) drop(pair ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range pair {
		_ = c.Close()
		delete(r.conns, c)
	}
}

// cut ends all connections. The lock is held.
func (r *relay) cut() {
	for c := range r.conns {
		_ = c.Close()
		r.conns[c] = false
	}
}

// close ends all connections, and takes no more.
func (r *relay) close() {
	_ = r.l.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut()
	r.conns = nil
}
