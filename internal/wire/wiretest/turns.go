// Package wiretest is what tests of readers share: a connection as a script, cut in all
// ways; any bytes; and a relay before a real server.
package wiretest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
)

// Turn is what one side says.
type Turn struct {
	Who  wire.Side
	Says string
}

// Asks is a turn of the client's.
func Asks(s ...string) Turn { return Turn{wire.Client, strings.Join(s, "")} }

// Answers is a turn of the server's.
func Answers(s ...string) Turn { return Turn{wire.Server, strings.Join(s, "")} }

// heard is a message, and whose it is.
type heard struct {
	who wire.Side
	wire.Message
}

// notes are what there is to say about messages, "a" where the client asks for a, "=a" where
// the server answers it, "~" behind what keeps a session alive and "!" behind what failed.
func notes(all []heard) string {
	var words []string
	for _, h := range all {
		m := h.Message
		word := m.Request
		if h.who == wire.Server && word != "" {
			word = "=" + word
		}
		if m.KeepsAlive {
			word += "~"
		}
		if m.Failed {
			word += "!"
		}
		if m.Session != "" {
			word += "(" + m.Session + ")"
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// Check wants the notes, however what is said is cut, and the same messages where they can
// be told apart.
func Check(t *testing.T, l wire.Language, turns []Turn, want string) {
	t.Helper()
	whole, legible := hear(t, l, turns, func(int) bool { return false })
	if got := notes(whole); got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	size := 0
	for _, turn := range turns {
		size += len(turn.Says)
	}
	for at := range size + 1 {
		pieces, _ := hear(t, l, turns, func(n int) bool { return at == 0 || n == at })
		if got := notes(pieces); got != want {
			t.Fatalf("cut at %d (0: everywhere): heard %q, want %q", at, got, want)
		}
		if legible && !slices.EqualFunc(pieces, whole, same) {
			t.Fatalf("cut at %d (0: everywhere): heard %+v, want %+v", at, pieces, whole)
		}
	}
}

// CheckWhole wants the notes of what is long, which is not cut.
func CheckWhole(t *testing.T, l wire.Language, turns []Turn, want string) {
	t.Helper()
	all, _ := hear(t, l, turns, func(int) bool { return false })
	if got := notes(all); got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

func same(a, b heard) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// hear gives a connection what is said, in pieces that end at the given places and where
// turns end. What is not legible to its end is passed on as it comes.
func hear(t *testing.T, l wire.Language, turns []Turn, cut func(at int) bool) (all []heard, legible bool) {
	t.Helper()
	var (
		c, in     = read(l)
		said, got [2]string
		at        int
	)
	for _, turn := range turns {
		piece := ""
		for i := range len(turn.Says) {
			piece += turn.Says[i : i+1]
			at++
			if i < len(turn.Says)-1 && !cut(at) {
				continue
			}
			reused := []byte(piece)
			for _, m := range take(c, turn.Who)(reused) {
				all = append(all, heard{turn.Who, m})
			}
			clear(reused)
			piece = ""
		}
		said[turn.Who] += turn.Says
	}
	for _, h := range all {
		got[h.who] += string(h.Bytes)
	}
	fromClient, fromServer := c.Rest()
	if got[wire.Client]+string(fromClient) != said[wire.Client] || got[wire.Server]+string(fromServer) != said[wire.Server] {
		t.Errorf("the messages have %q, and %q is left, of %q", got, []string{string(fromClient), string(fromServer)}, said)
	}
	return all, in.legible
}

func take(c *wire.Conn, who wire.Side) func([]byte) []wire.Message {
	if who == wire.Client {
		return c.Said
	}
	return c.Answered
}

// watched is a protocol of which is seen whether it can be read to the end.
type watched struct {
	wire.Protocol
	legible bool
}

// read begins a connection that is watched.
func read(l wire.Language) (*wire.Conn, *watched) {
	w := &watched{Protocol: l.Begin()}
	w.look()
	l.Begin = func() wire.Protocol { return w }
	return wire.New(l), w
}

func (w *watched) Length(who wire.Side, unread []byte) int {
	n := w.Protocol.Length(who, unread)
	if n == wire.Nonsense {
		w.legible = false
	}
	return n
}

func (w *watched) Read(who wire.Side, message []byte) (notes []wire.Message, next wire.Protocol) {
	notes, w.Protocol = w.Protocol.Read(who, message)
	w.look()
	return notes, w
}

func (w *watched) look() {
	switch w.Protocol.(type) {
	case wire.Raw, *wire.Turns:
		w.legible = false
	default:
		w.legible = true
	}
}

// Passes gives a connection what can't be read: all of it must go through at once, as must
// all behind it.
func Passes(t *testing.T, l wire.Language, turns ...Turn) {
	t.Helper()
	c := wire.New(l)
	for _, turn := range turns {
		take(c, turn.Who)([]byte(turn.Says))
	}
	if fromClient, fromServer := c.Rest(); len(fromClient)+len(fromServer) != 0 {
		t.Errorf("%q and %q are held back", fromClient, fromServer)
	}
	for _, take := range []func([]byte) []wire.Message{c.Said, c.Answered} {
		if all := take([]byte("x")); len(all) != 1 || string(all[0].Bytes) != "x" {
			t.Errorf("then x is %v", all)
		}
	}
}
