package wiretest

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
)

// lines is a protocol of words, a line each: the client's are requests, the server's answer them in turn, with "no"
// where they failed. A hasty one takes what has come for a whole line.
type lines struct {
	hasty bool
	asked []string
}

func (l *lines) Length(_ wire.Side, unread []byte) int {
	if l.hasty {
		return len(unread)
	}
	return bytes.IndexByte(unread, '\n') + 1
}

func (l *lines) Read(who wire.Side, message []byte) ([]wire.Message, wire.Protocol) {
	m := wire.Message{Bytes: bytes.Clone(message)}
	word := strings.TrimSpace(string(message))
	switch {
	case who == wire.Client:
		m.Request, m.KeepsAlive = word, word == "ping"
		l.asked = append(l.asked, word)
	case len(l.asked) > 0:
		m.Request, m.Failed = l.asked[0], word == "no"
		l.asked = l.asked[1:]
	}
	return []wire.Message{m}, l
}

func language(hasty bool) wire.Language {
	return wire.Language{Name: "lines", Begin: func() wire.Protocol { return &lines{hasty: hasty} }}
}

var script = []Turn{Asks("take\n", "ping\n"), Answers("yes\n", "yes\n"), Asks("give\n"), Answers("no\n")}

const scriptNotes = "take ping~ =take =ping give =give!"

// TestCheck: a reader that is right passes, wherever what is said is cut.
func TestCheck(t *testing.T) {
	Check(t, language(false), script, scriptNotes)
	CheckWhole(t, language(false), script, scriptNotes)
}

// TestHasty: a reader that takes a piece for a message is heard to differ, though it loses no byte.
func TestHasty(t *testing.T) {
	whole, _ := hear(t, language(true), script, func(int) bool { return false })
	pieces, _ := hear(t, language(true), script, func(int) bool { return true })
	if a, b := notes(whole), notes(pieces); a == b {
		t.Errorf("heard %q both times", a)
	}
}

// TestTurnsOf: whatever the turns, all is said, each side's in its order.
func TestTurnsOf(t *testing.T) {
	for _, turns := range []string{"", "\x04\x0a\xff\x0e\xff", "\xff\xfe\xff", "\x00\x01\x02\x03"} {
		var got [2]string
		for _, turn := range turnsOf([]byte("client"), []byte("server"), []byte(turns)) {
			got[turn.Who] += turn.Says
		}
		if got[wire.Client] != "client" || got[wire.Server] != "server" {
			t.Errorf("%q: %q", turns, got)
		}
	}
}

// TestRelay: what goes through arrives, and is heard.
func TestRelay(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		c, err := server.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 5)
		_, _ = c.Read(b)
		_, _ = c.Write([]byte("no\n"))
	}()
	r := NewRelay(t, language(false), server.Addr().String())
	c, err := net.Dial("tcp", r.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("give\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 3)
	if _, err := c.Read(answer); err != nil || string(answer) != "no\n" {
		t.Fatalf("%q, %v", answer, err)
	}
	r.Want(t, "give =give!")
}
