package wire

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// turn is what one side says.
type turn struct {
	who  side
	says string
}

func asks(s ...string) turn    { return turn{client, strings.Join(s, "")} }
func answers(s ...string) turn { return turn{server, strings.Join(s, "")} }

// notes are what there is to say about messages, "a" where the client asks for a, "=a" where
// the server answers it.
func notes(all []heard) string {
	var words []string
	for _, h := range all {
		m := h.Message
		word := m.Request
		if h.who == server && word != "" {
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

type heard struct {
	who side
	Message
}

// hear gives a connection what is said, in pieces that end at the given places and where
// turns end.
func hear(t *testing.T, turns []turn, cut func(at int) bool) []heard {
	t.Helper()
	var (
		c         Conn
		all       []heard
		said, got [2]string
		at        int
	)
	for _, turn := range turns {
		piece := ""
		for i := range len(turn.says) {
			piece += turn.says[i : i+1]
			at++
			if i < len(turn.says)-1 && !cut(at) {
				continue
			}
			take := c.Said
			if turn.who == server {
				take = c.Answered
			}
			reused := []byte(piece)
			for _, m := range take(reused) {
				all = append(all, heard{turn.who, m})
			}
			clear(reused)
			piece = ""
		}
		said[turn.who] += turn.says
	}
	for _, h := range all {
		got[h.who] += string(h.Bytes)
	}
	fromClient, fromServer := c.Rest()
	if got[client]+string(fromClient) != said[client] || got[server]+string(fromServer) != said[server] {
		t.Errorf("the messages have %q, and %q is left, of %q", got, []string{string(fromClient), string(fromServer)}, said)
	}
	return all
}

// check wants the notes, however what is said is cut, and the same messages where they can
// be told apart.
func check(t *testing.T, turns []turn, want string) {
	t.Helper()
	whole := hear(t, turns, func(int) bool { return false })
	if got := notes(whole); got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
	size := 0
	for _, turn := range turns {
		size += len(turn.says)
	}
	for at := range size + 1 {
		pieces := hear(t, turns, func(n int) bool { return at == 0 || n == at })
		if got := notes(pieces); got != want {
			t.Fatalf("cut at %d (0: everywhere): heard %q, want %q", at, got, want)
		}
		if !slices.EqualFunc(pieces, whole, same) && !pieceable(turns) {
			t.Fatalf("cut at %d (0: everywhere): heard %+v, want %+v", at, pieces, whole)
		}
	}
}

func same(a, b heard) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// pieceable reports whether a connection is passed on as it comes.
func pieceable(turns []turn) bool {
	var c Conn
	for _, turn := range turns {
		if turn.who == client {
			c.Said([]byte(turn.says))
		} else {
			c.Answered([]byte(turn.says))
		}
	}
	switch c.protocol.(type) {
	case raw, *other:
		return true
	}
	return false
}

func TestOtherProtocols(t *testing.T) {
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"one question":     {[]turn{asks("GET a"), answers("1")}, "request =request"},
		"in two pieces":    {[]turn{asks("GET a"), asks("b"), answers("1"), answers("2")}, "request =request"},
		"two, one by one":  {[]turn{asks("GET a"), answers("1"), asks("GET b"), answers("2")}, "request =request request =request"},
		"one letter":       {[]turn{asks("x"), answers("y")}, "request =request"},
		"P":                {[]turn{asks("PING\r\n"), answers("+PONG\r\n")}, "request =request"},
		"encrypted":        {[]turn{asks("\x16\x03\x01"), answers("\x16\x03")}, "request =request"},
		"a server's hello": {[]turn{answers("220 here is a server\r\n"), asks("HELO"), answers("250")}, "request =request"},
	} {
		t.Run(name, func(t *testing.T) { check(t, tc.turns, tc.want) })
	}
}

// TestNothingIsHeldBackForGood gives what looks like a protocol and is none: it must go
// through at once, as must all behind it.
func TestNothingIsHeldBackForGood(t *testing.T) {
	redis := asks("*1\r\n$3\r\nGET\r\n")
	for name, turns := range map[string][]turn{
		"Redis: inline":             {redis, asks("PING\r\n")},
		"Redis: no number":          {asks("*x\r\n")},
		"Redis: below nothing":      {asks("*-2\r\n")},
		"Redis: no name":            {asks("*1\r\n*0\r\n")},
		"Redis: an HTTP answer":     {redis, answers("HTTP/1.1 400\r\n")},
		"Redis: too long":           {asks("*1\r\n$16777217\r\n")},
		"Redis: too many":           {asks("*16777217\r\n")},
		"ZooKeeper: too long":       {asks("\x00\x00\x00\x00"), asks("\x02\x00\x00\x00")},
		"HTTP/2: another preface":   {asks("PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n")},
		"HTTP/2: no headers":        {asks(preface, frameOf(frameHeaders, flagHeadersEnd, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))},
		"HTTP/2: no padding":        {asks(preface, frameOf(frameData, flagPadded, 1, "")), answers("x")},
		"HTTP/2: all padding":       {asks(preface, frameOf(frameData, flagPadded, 1, "\x05abc")), answers("x")},
		"HTTP/2: a promise":         {asks(preface), answers(frameOf(framePromise, 0, 1, ""))},
		"gRPC: compressed":          {asks(preface, callOf(1, "Put"), frameOf(frameData, 0, 1, "\x01\x00\x00\x00\x00")), answers("x")},
		"gRPC: too long":            {asks(preface, callOf(1, "Put"), frameOf(frameData, 0, 1, "\x00\x02\x00\x00\x00")), answers("x")},
		"MySQL: encrypted from now": {answers(greetingOf), asks(packet(1, "\x00\x08\x00\x00")), asks("\x16"), answers("\x16")},
	} {
		t.Run(name, func(t *testing.T) {
			var c Conn
			for _, turn := range turns {
				if turn.who == client {
					c.Said([]byte(turn.says))
				} else {
					c.Answered([]byte(turn.says))
				}
			}
			if fromClient, fromServer := c.Rest(); len(fromClient)+len(fromServer) != 0 {
				t.Errorf("%q and %q are held back", fromClient, fromServer)
			}
			for _, take := range []func([]byte) []Message{c.Said, c.Answered} {
				if all := take([]byte("x")); len(all) != 1 || string(all[0].Bytes) != "x" {
					t.Errorf("then x is %v", all)
				}
			}
		})
	}
}

// TestLongestMessage: more than 16 MiB are not held back.
func TestLongestMessage(t *testing.T) {
	const piece = 64 << 10
	for name, line := range map[string]string{"known": "$20000000\r\n", "unknown": "+"} {
		var c Conn
		c.Said([]byte(redisCommand("GET", "a")))
		all, size := c.Answered([]byte(line)), len(line)
		for len(all) == 0 && size <= longest {
			all, size = c.Answered(make([]byte, piece)), size+piece
		}
		if len(all) == 0 || all[0].Request != "" {
			t.Errorf("%s: %d messages of %d bytes", name, len(all), size)
		}
	}
}

// TestMessagesAreTheReceivers: who gets a message may do with its bytes what they like.
func TestMessagesAreTheReceivers(t *testing.T) {
	var c Conn
	set, get := redisCommand("set", "a", "1"), redisCommand("get", "a")
	all := c.Said([]byte(set + get + get[:9]))
	for _, m := range all {
		clear(m.Bytes)
		_ = append(m.Bytes, "other bytes"...)
	}
	if all = c.Said([]byte(get[9:])); len(all) != 1 || string(all[0].Bytes) != get || all[0].Request != "get" {
		t.Errorf("then came %+v", all)
	}
}
