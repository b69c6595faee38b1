package wire_test

import (
	"testing"

	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

// TestOtherProtocols: of what nobody can read turns are seen, also where something else was expected.
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
		t.Run(name, func(t *testing.T) { wiretest.Check(t, wire.Other, tc.turns, tc.want) })
	}
}

// TestZeroLanguage: of a language that is not said turns are seen.
func TestZeroLanguage(t *testing.T) {
	if all := wire.New(wire.Language{}).Said([]byte("x")); len(all) != 1 || all[0].Request != "request" {
		t.Errorf("in the zero language x is %v", all)
	}
}

func FuzzOther(f *testing.F) {
	wiretest.Fuzz(f, wire.Other, []string{"GET a"}, []string{"1"})
}

// TestLongestMessage: more than 16 MiB are not held back.
func TestLongestMessage(t *testing.T) {
	const piece = 64 << 10
	for name, line := range map[string]string{"known": "$20000000\r\n", "unknown": "+"} {
		c := wire.New(redis.Language)
		c.Said([]byte("*2\r\n$3\r\nGET\r\n$1\r\na\r\n"))
		all, size := c.Answered([]byte(line)), len(line)
		for len(all) == 0 && size <= wire.Longest {
			all, size = c.Answered(make([]byte, piece)), size+piece
		}
		if len(all) == 0 || all[0].Request != "" {
			t.Errorf("%s: %d messages of %d bytes", name, len(all), size)
		}
	}
}

// TestMessagesAreTheReceivers: who gets a message may do with its bytes what they like.
func TestMessagesAreTheReceivers(t *testing.T) {
	c := wire.New(redis.Language)
	set, get := "*3\r\n$3\r\nset\r\n$1\r\na\r\n$1\r\n1\r\n", "*2\r\n$3\r\nget\r\n$1\r\na\r\n"
	all := c.Said([]byte(set + get + get[:9]))
	for _, m := range all {
		clear(m.Bytes)
		_ = append(m.Bytes, "other bytes"...)
	}
	if all = c.Said([]byte(get[9:])); len(all) != 1 || string(all[0].Bytes) != get || all[0].Request != "get" {
		t.Errorf("then came %+v", all)
	}
}
