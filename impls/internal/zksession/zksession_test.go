package zksession

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
)

// message is its length and then numbers: uint32, uint64, and text as it is.
func message(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int32:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(p))
		case string:
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(p))), p...)
		}
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

const none = int32(0)

// TestAnswers: what the library keeps to itself is read from the replies, and nothing
// else is taken for it.
func TestAnswers(t *testing.T) {
	s := &Session{}
	a := &answers{session: s}
	hear := func(parts ...any) { a.hear(message(parts...)[lengthSize:]) }
	hear(none, int32(1500), int64(7), "password")
	if s.Timeout() != 1500*time.Millisecond {
		t.Fatalf("timeout %v", s.Timeout())
	}
	hear(int32(1), int64(42), none, "/lock/a-1")
	hear(int32(2), int64(43), none, "/lock/a-2", int64(43)) // more than a path: a node that was looked at
	hear(int32(3), int64(44), int32(-110), "/lock/a-3")     // refused
	hear(int32(-1), int64(-1), none, "/lock/a-4")           // an event, no reply
	hear(int32(4), int64(45), none, "not a path")           // data
	hear(int32(5), int64(46), none)                         // nothing
	hear(int32(6), int64(47), none, "")                     // an empty text
	a.hear([]byte{1, 2, 3})                                 // no message at all
	for path, want := range map[string]uint64{"/lock/a-1": 42, "/lock/a-2": 0, "/lock/a-3": 0, "/lock/a-4": 0, "not a path": 0} {
		if got, ok := s.Created(path); got != want || ok != (want > 0) {
			t.Errorf("%s: made by %d, %v", path, got, ok)
		}
	}
	if _, ok := s.Created("/lock/a-1"); ok {
		t.Error("a node was told twice")
	}
	s.created.Range(func(path, _ any) bool { t.Errorf("%q was not made here", path); return true })
	(&answers{session: s}).hear(message(none, none, int64(0), "")[lengthSize:]) // of another connection: refused
	(&answers{session: s}).hear([]byte{0, 0})
	if s.Timeout() != 1500*time.Millisecond {
		t.Errorf("a session that was refused has a timeout of %v", s.Timeout())
	}
}

// TestHosts go round, and rest only after a whole round without a connection.
func TestHosts(t *testing.T) {
	for n, want := range map[int]string{1: "a a. a. | a", 3: "a b c a. b c a. | b c"} {
		h := &hosts{}
		if err := h.Init([]string{"a", "b", "c"}[:n]); err != nil || h.Len() != n {
			t.Fatal(err, h.Len())
		}
		var got []string
		for _, step := range strings.Fields(want) {
			if step == "|" {
				h.Connected()
				got = append(got, step)
				continue
			}
			server, rest := h.Next()
			if rest {
				server += "."
			}
			got = append(got, server)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d servers: %q, want %q", n, got, want)
		}
	}
}

// script is a connection on which the server says what is written there, in pieces.
type script struct {
	net.Conn
	sent, says bytes.Buffer
	piece      int
}

func (s *script) Write(p []byte) (int, error) { return s.sent.Write(p) }
func (s *script) Read(p []byte) (int, error)  { return s.says.Read(p[:min(s.piece, len(p))]) }

// steps is a probe that writes down what passes it.
type steps struct {
	lb.Probe
	mu     sync.Mutex
	seen   []string
	refuse string
}

func (s *steps) Step(_ context.Context, m lb.Move) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, strings.Trim(string(m.Actor)+" "+m.Owner+" "+m.Name, " "))
	if m.Name == s.refuse {
		return context.Canceled
	}
	return nil
}

const create, remove, ping, pingNumber = 1, 2, 11, -2

// TestWire: each named request passes its step before it leaves, and the one after it if
// the server did it, however the answers are cut into pieces.
func TestWire(t *testing.T) {
	for _, piece := range []int{1, 3, 7, 64, 4096} {
		conn, probe := &script{piece: piece}, &steps{}
		var heard [][]byte
		w := NewWire(Wire{Conn: conn, Env: &lb.Env{Probe: probe}, Passes: []string{"create", "delete", "ping"},
			For: func() lb.Request { return lb.Request{Owner: "me"} }, Hear: func(m []byte) { heard = append(heard, slices.Clone(m)) }})
		requests := [][]byte{
			message(int32(9), int32(create), "the first asks for a session, whatever it looks like"),
			message(int32(1), int32(create), "/a"),
			message(int32(2), int32(remove), "/a"),
			message(int32(3), int32(99), "no name"),
			message(int32(pingNumber), int32(ping)),
		}
		answers := [][]byte{
			message(none, int32(1000), int64(1), "password"),
			message(int32(1), int64(10), none, "/a"),
			message(int32(2), int64(11), int32(-101)), // refused
			message(int32(3), int64(12), none),
			message(int32(-1), int64(-1), none, int32(3)), // an event
			message(int32(pingNumber), int64(12), none),
			message(int32(1), int64(10), none), // twice
		}
		for _, r := range requests {
			if _, err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		conn.says.Write(bytes.Join(answers, nil))
		for buffer := make([]byte, 100); ; {
			if n, _ := w.Read(buffer); n == 0 {
				break
			}
		}
		want := []string{"me before-create", "me before-delete", "renewal  before-ping", "me after-create", "renewal  after-ping"}
		if !slices.Equal(probe.seen, want) {
			t.Errorf("pieces of %d: steps %q, want %q", piece, probe.seen, want)
		}
		if !bytes.Equal(conn.sent.Bytes(), bytes.Join(requests, nil)) {
			t.Errorf("pieces of %d: what was sent has changed", piece)
		}
		if len(heard) != len(answers) {
			t.Fatalf("pieces of %d: heard %d of %d", piece, len(heard), len(answers))
		}
		for i := range heard {
			if !bytes.Equal(heard[i], answers[i][lengthSize:]) {
				t.Errorf("pieces of %d: answer %d was heard as %x", piece, i, heard[i])
			}
		}
	}
}

// TestWireStops: what is refused at its step does not leave.
func TestWireStops(t *testing.T) {
	conn, probe := &script{piece: 64}, &steps{refuse: "before-create"}
	w := NewWire(Wire{Conn: conn, Env: &lb.Env{Probe: probe}, Passes: []string{"create"}, For: func() lb.Request { return lb.Request{} }})
	if _, err := w.Write(message(none, none, none)); err != nil {
		t.Fatal(err)
	}
	before := conn.sent.Len()
	if _, err := w.Write(message(int32(1), int32(create), "/a")); err != context.Canceled || conn.sent.Len() != before {
		t.Errorf("%v; %d bytes left", err, conn.sent.Len()-before)
	}
}
