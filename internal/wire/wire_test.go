package wire_test

import (
	"testing"

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

// TestOtherwise: who does not speak the language from the begin takes turns.
func TestOtherwise(t *testing.T) {
	tls := []turn{asks("\x16\x03\x01\x02\x00"), answers("\x16\x03\x03")}
	for name, tc := range map[string]struct {
		language wire.Language
		turns    []turn
	}{
		"Redis: inline":            {wire.Redis, []turn{asks("PING\r\n"), answers("+PONG\r\n")}},
		"Redis: an inline integer": {wire.Redis, []turn{asks(":1\r\n"), answers("-ERR\r\n")}},
		"Redis: encrypted":         {wire.Redis, tls},
		"the zero language":        {wire.Language{Begin: wire.Other.Begin}, tls},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, tc.language, tc.turns, "request =request") })
	}
	if all := wire.New(wire.Language{}).Said([]byte("x")); len(all) != 1 || all[0].Request != "request" {
		t.Errorf("in the zero language x is %v", all)
	}
}

// TestNothingIsHeldBackForGood gives what looks like a protocol and is none: it must go
// through at once, as must all behind it.
func TestNothingIsHeldBackForGood(t *testing.T) {
	redis := asks("*1\r\n$3\r\nGET\r\n")
	for name, tc := range map[string]struct {
		language wire.Language
		turns    []turn
	}{
		"Redis: inline":         {wire.Redis, []turn{redis, asks("PING\r\n")}},
		"Redis: no number":      {wire.Redis, []turn{asks("*x\r\n")}},
		"Redis: below nothing":  {wire.Redis, []turn{asks("*-2\r\n")}},
		"Redis: no name":        {wire.Redis, []turn{asks("*1\r\n*0\r\n")}},
		"Redis: an HTTP answer": {wire.Redis, []turn{redis, answers("HTTP/1.1 400\r\n")}},
		"Redis: too long":       {wire.Redis, []turn{asks("*1\r\n$16777217\r\n")}},
		"Redis: too many":       {wire.Redis, []turn{asks("*16777217\r\n")}},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, tc.language, tc.turns...) })
	}
}

// TestLongestMessage: more than 16 MiB are not held back.
func TestLongestMessage(t *testing.T) {
	const piece = 64 << 10
	for name, line := range map[string]string{"known": "$20000000\r\n", "unknown": "+"} {
		c := wire.New(wire.Redis)
		c.Said([]byte(redisCommand("GET", "a")))
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
	c := wire.New(wire.Redis)
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
