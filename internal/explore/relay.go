package explore

import (
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/lockbench/lockbench/internal/wire"
)

// relay stands between one client and one server, so that the client can die, and lose an
// answer, as the server would see it.
type relay struct {
	server string
	speaks wire.Language
	l      net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool // nil when it is closed
	loses *sync.Once        // takes the next answer to a request, of this relay or of another
	moved uint64            // bytes, either way
	ended int               // connections that have ended
	heard int               // answers to requests
	talks []*talk           // of which not all was told
	since news              // it was asked
}

// talk is what a server has said on one connection, from the first request on.
type talk struct {
	began bool
	said  []byte
}

// news is what has passed since somebody asked.
type news struct {
	heard  []string // what servers said, by connection
	made   int      // connections
	closed bool     // some
	asked  bool     // the client has sent a request
}

func newRelay(server string, speaks wire.Language) (*relay, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{server: server, speaks: speaks, l: l, conns: map[net.Conn]bool{}}
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
	said, t := wire.New(r.speaks), r.talk()
	go func() {
		r.copy(server, client, func(b []byte) bool { r.asks(t, said.Said(b)); return true })
		r.drop(client, server)
	}()
	r.copy(client, server, func(b []byte) bool { return r.passes(t, said.Answered(b)) })
	r.drop(client, server)
}

// talk begins one.
func (r *relay) talk() *talk {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &talk{}
	r.talks, r.since.made = append(r.talks, t), r.since.made+1
	return t
}

// asks notes requests: what sets up a connection is none.
func (r *relay) asks(t *talk, said []wire.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(said, func(m wire.Message) bool { return m.Request != "" && !m.KeepsAlive }) {
		t.began, r.since.asked = true, true
	}
}

// tell tells what has passed since it was asked before, without the name that orders differ in.
func (r *relay) tell(name string) news {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.since
	r.since = news{}
	for _, t := range r.talks {
		if len(t.said) > 0 {
			p.heard = append(p.heard, strings.ReplaceAll(string(t.said), name, ""))
			t.said = nil
		}
	}
	return p
}

// passes reports whether what the server says may pass. An answer that is lost is lost with all
// of the client's connections.
func (r *relay) passes(t *talk, said []wire.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range said {
		if m.Request == "" || m.KeepsAlive {
			if t.began && !m.KeepsAlive {
				t.said = append(t.said, m.Bytes...)
			}
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
		t.said = append(t.said, m.Bytes...)
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

// drops is how many connections have ended.
func (r *relay) drops() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// open are both ends of the connections that there are.
func (r *relay) open() []net.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.conns))
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
	r.since.closed = true
	if _, there := r.conns[pair[0]]; there { // both directions come here
		r.ended++
	}
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
