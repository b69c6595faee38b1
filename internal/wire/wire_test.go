package wire_test

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

// netstrings is a language of texts behind their lengths, such as "3:get". What a client says is a request by that
// name.
var netstrings = wire.Language{Begin: func() wire.Protocol { return netstring{} }}

type netstring struct{}

func (netstring) Length(_ wire.Side, unread []byte) int {
	size, _, whole := bytes.Cut(unread, []byte{':'})
	n, err := strconv.ParseUint(string(size), 10, 32)
	switch {
	case !whole && err == nil:
		return 0
	case err != nil:
		return wire.Nonsense
	}
	return len(size) + 1 + int(n)
}

func (p netstring) Read(who wire.Side, m []byte) ([]wire.Message, wire.Protocol) {
	if who == wire.Server {
		return nil, p
	}
	_, name, _ := bytes.Cut(m, []byte{':'})
	return []wire.Message{{Request: string(name)}}, p
}

// TestMessages: a message is read when it is whole, wherever it was cut.
func TestMessages(t *testing.T) {
	wiretest.Check(t, netstrings, []turn{asks("3:get4:take"), answers("1:a"), asks("3:put")}, "get take put")
}

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
		"encrypted":        {[]turn{asks("\x16\x03\x01"), answers("\x16\x03")}, "request =request"},
		"a server's hello": {[]turn{answers("220 here is a server\r\n"), asks("HELO"), answers("250")}, "request =request"},
	} {
		t.Run(name, func(t *testing.T) {
			wiretest.Check(t, wire.Other, tc.turns, tc.want)
			wiretest.Check(t, netstrings, tc.turns, tc.want)
		})
	}
	if all := wire.New(wire.Language{}).Said([]byte("x")); len(all) != 1 || all[0].Request != "request" {
		t.Errorf("in the zero language x is %v", all)
	}
}

// TestNothingIsHeldBackForGood gives what can't be read behind what could be.
func TestNothingIsHeldBackForGood(t *testing.T) {
	wiretest.Passes(t, netstrings, asks("3:get", "PING\r\n"))
	wiretest.Passes(t, netstrings, asks("3:get"), answers("HTTP/1.1 400\r\n"))
}

// TestLongestMessage: more than 16 MiB are not held back.
func TestLongestMessage(t *testing.T) {
	zeros := bytes.Repeat([]byte{'0'}, 1<<20)
	for name, begin := range map[string]string{"known": "20000000:", "unknown": "0"} {
		c := wire.New(netstrings)
		all, size := c.Answered([]byte(begin)), len(begin)
		for len(all) == 0 && size <= wire.Longest {
			all, size = c.Answered(zeros), size+len(zeros)
		}
		if len(all) == 0 || all[0].Request != "" {
			t.Errorf("%s: %d messages of %d bytes", name, len(all), size)
		}
	}
}

// TestMessagesAreTheReceivers: who gets a message may do with its bytes what they like.
func TestMessagesAreTheReceivers(t *testing.T) {
	c := wire.New(netstrings)
	all := c.Said([]byte("4:take3:get3:pu"))
	for _, m := range all {
		clear(m.Bytes)
		_ = append(m.Bytes, "other bytes"...)
	}
	if all = c.Said([]byte("t")); len(all) != 1 || string(all[0].Bytes) != "3:put" || all[0].Request != "put" {
		t.Errorf("then came %+v", all)
	}
}

func FuzzConn(f *testing.F) {
	wiretest.Fuzz(f, netstrings, []string{"3:get4:take", "GET a"}, []string{"1:a", "1"})
}
