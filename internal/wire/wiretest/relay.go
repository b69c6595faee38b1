package wiretest

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// Relay passes on what the connections to a real server say, message by message, and
// keeps it.
type Relay struct {
	// Addr is where it listens.
	Addr string

	mu    sync.Mutex
	heard []heard
}

// NewRelay stands before the server for the time of the test.
func NewRelay(t *testing.T, l wire.Language, server string) *Relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	r := &Relay{Addr: listener.Addr().String()}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", server)
			if err != nil {
				return
			}
			c := wire.New(l)
			go r.pass(wire.Client, to, from, c.Said)
			go r.pass(wire.Server, from, to, c.Answered)
		}
	}()
	return r
}

func (r *Relay) pass(who wire.Side, to, from net.Conn, read func([]byte) []wire.Message) {
	defer to.Close()
	for b := make([]byte, 16<<10); ; {
		n, err := from.Read(b)
		for _, m := range read(b[:n]) {
			r.mu.Lock()
			r.heard = append(r.heard, heard{who, m})
			r.mu.Unlock()
			if _, err := to.Write(m.Bytes); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Want compares what is heard since the last time, which may take a moment. Pings come when
// they come, also where nobody wants them.
func (r *Relay) Want(t *testing.T, want string) {
	t.Helper()
	var got string
	for range 250 {
		time.Sleep(20 * time.Millisecond)
		got = r.Notes()
		if !strings.Contains(want, "ping") {
			got = strings.Join(slices.DeleteFunc(strings.Fields(got), func(s string) bool { return s == "ping~" || s == "=ping~" }), " ")
		}
		if got == want {
			break
		}
	}
	if got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	r.Forget()
}

// Notes are first those of the client, since the two sides are heard apart.
func (r *Relay) Notes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortStableFunc(r.heard, func(a, b heard) int { return int(a.who) - int(b.who) })
	return notes(r.heard)
}

// Forget forgets what was heard.
func (r *Relay) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = nil
}
