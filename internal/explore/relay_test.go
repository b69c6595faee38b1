package explore

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockbench/lockbench/backends/redis"
)

// answering is a server that answers each request of Redis with its number.
type answering struct {
	net.Listener
	heard atomic.Int64
}

func newAnswering(t *testing.T) *answering {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &answering{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *answering) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewScanner(c)
	for in.Scan() {
		switch word := in.Text(); word {
		case "SET":
			fmt.Fprintf(c, ":%d\r\n", s.heard.Add(1))
		case "PING":
			fmt.Fprint(c, "+PONG\r\n")
		}
	}
}

func relayed(t *testing.T) (*relay, *answering) {
	t.Helper()
	s := newAnswering(t)
	r, err := newRelay(s.Addr().String(), redis.Language)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r, s
}

// caller is a client of the relay's.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func connected(t *testing.T, r *relay) caller {
	t.Helper()
	c, err := net.Dial("tcp", r.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	return caller{c, bufio.NewReader(c)}
}

func (c caller) ask(word string) (string, error) {
	if _, err := fmt.Fprintf(c, "*1\r\n$%d\r\n%s\r\n", len(word), word); err != nil {
		return "", err
	}
	s, err := c.in.ReadString('\n')
	return strings.TrimSpace(s), err
}

func (c caller) wants(t *testing.T, word, want string) {
	t.Helper()
	if got, err := c.ask(word); err != nil || got != want {
		t.Errorf("%s: %q, %v, want %q", word, got, err, want)
	}
}

// ended checks that the connection has ended, with nothing said before.
func (c caller) ended(t *testing.T) {
	t.Helper()
	rest, err := io.ReadAll(c.in)
	if len(rest) > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestRelay(t *testing.T) {
	r, s := relayed(t)
	a, b := connected(t, r), connected(t, r)
	a.wants(t, "SET", ":1")
	b.wants(t, "SET", ":2")
	a.wants(t, "SET", ":3")
	if s.heard.Load() != 3 {
		t.Errorf("%d requests", s.heard.Load())
	}
	const bytes = 3 * (len("*1\r\n$3\r\nSET\r\n") + len(":1\r\n"))
	if r.passed() != uint64(bytes) {
		t.Errorf("%d bytes have passed, want %d", r.passed(), bytes)
	}
	_ = a.Close()
	b.wants(t, "SET", ":4")
}

// TestRelayLoses: the next answer to a request is lost, with all connections, and nothing else.
func TestRelayLoses(t *testing.T) {
	r, s := relayed(t)
	a, b := connected(t, r), connected(t, r)
	a.wants(t, "SET", ":1")
	b.wants(t, "SET", ":2")
	r.lose(&sync.Once{})
	a.wants(t, "PING", "+PONG") // it is no request
	if got, err := b.ask("SET"); err == nil || got != "" {
		t.Errorf("the answer %q was not lost", got)
	}
	a.ended(t)
	b.ended(t)
	if s.heard.Load() != 3 {
		t.Errorf("the server heard %d requests", s.heard.Load())
	}
	again := connected(t, r)
	again.wants(t, "SET", ":4")
	again.wants(t, "SET", ":5")
}

// TestRelayCloses: the client can't reach the server any more, and the server sees its end.
func TestRelayCloses(t *testing.T) {
	r, s := relayed(t)
	a := connected(t, r)
	a.wants(t, "SET", ":1")
	r.close()
	a.ended(t)
	if c, err := net.Dial("tcp", r.addr()); err == nil {
		t.Error("it takes another connection")
		_ = c.Close()
	}
	r.close() // more than once
	if s.heard.Load() != 1 {
		t.Errorf("%d requests", s.heard.Load())
	}
}

// TestRelayCloseMeanwhile: a connection that is about to be made when the relay is closed ends.
func TestRelayCloseMeanwhile(t *testing.T) {
	r, _ := relayed(t)
	here, there := net.Pipe()
	r.close()
	if r.keep(here, there) {
		t.Error("it keeps a connection")
	}
	if _, err := here.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// TestRelayNoServer: who can't be connected hears so at once.
func TestRelayNoServer(t *testing.T) {
	r, s := relayed(t)
	_ = s.Close()
	connected(t, r).ended(t)
}
