package redis_test

import (
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

// command is an array of texts.
func command(words ...string) string {
	s := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		s += text(w)
	}
	return s
}

func text(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func TestRedis(t *testing.T) {
	const ok, null = "+OK\r\n", "$-1\r\n"
	set, get, word := command("SET", "a", "1"), command("get", "a"), command
	// confirmed is what follows a subscription, in the version of the protocol that sign says.
	confirmed := func(sign, what, channel string) string { return sign + "3\r\n" + text(what) + text(channel) + ":1\r\n" }
	message := func(sign string) string { return sign + "3\r\n" + text("message") + text("c") + text("hello") }
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"set-up": {[]turn{asks(word("HELLO", "3")), answers("%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n$1\r\nx\r\n"), asks(word("client", "setinfo", "a", "b")),
			answers("-ERR\r\n"), asks(word("PING"), word("info"), word("COMMAND", "docs"), word("CLUSTER", "SLOTS"), word("ASKING")), answers("+PONG\r\n", text("a"), "*0\r\n", "*0\r\n", "+OK\r\n"), asks(set), answers(ok)}, "set =set"},
		"pipelined, with a nameless one":   {[]turn{asks(set, word("PING"), get), answers(ok, "+PONG\r\n", null)}, "set get =set =get!"},
		"an empty value":                   {[]turn{asks(word("SET", "", ""), get), answers(ok, text(""))}, "set get =set =get"},
		"errors":                           {[]turn{asks(set, set, set, get), answers("-ERR no\r\n", "!5\r\nERR x\r\n", "_\r\n", "*-1\r\n")}, "set set set get =set! =set! =set! =get!"},
		"zero is an answer":                {[]turn{asks(word("SETNX", "a", "1")), answers(":0\r\n")}, "setnx =setnx"},
		"other types":                      {[]turn{asks(get, get, get, get, get, get), answers("#t\r\n", ",1.5\r\n", "(123\r\n", "=7\r\ntxt:abc\r\n", "~1\r\n:1\r\n", "%1\r\n:1\r\n*1\r\n$-1\r\n")}, "get get get get get get =get =get =get =get =get =get"},
		"nested":                           {[]turn{asks(word("EVAL", "x", "0"), get), answers("*2\r\n*2\r\n:1\r\n*0\r\n*-1\r\n", text("v"))}, "eval get =eval =get"},
		"a transaction":                    {[]turn{asks(word("MULTI"), set, get, word("EXEC"), get), answers(ok, "+QUEUED\r\n", "+QUEUED\r\n", "*2\r\n+OK\r\n$1\r\n1\r\n", text("1"))}, "exec get =exec =get"},
		"a transaction that another broke": {[]turn{asks(word("WATCH", "a")), answers(ok), asks(word("MULTI"), set, word("EXEC")), answers(ok, "+QUEUED\r\n", "*-1\r\n")}, "watch =watch exec =exec!"},
		"a transaction that is given up":   {[]turn{asks(word("MULTI"), set, word("DISCARD"), get), answers(ok, "+QUEUED\r\n", ok, null)}, "discard get =discard =get!"},
		"nothing":                          {[]turn{asks("*0\r\n", get), answers(text("1"))}, "get =get"},
		"not asked for":                    {[]turn{asks(get), answers(text("1"), ok)}, "get =get"},
		"invalidations":                    {[]turn{asks(get), answers(">2\r\n", text("invalidate"), "*1\r\n", text("a"), text("1")), answers(">2\r\n", text("invalidate"), "_\r\n")}, "get =get"},
		"a subscription": {[]turn{asks(word("SUBSCRIBE", "c", "d")), answers(confirmed("*", "subscribe", "c"), message("*"), confirmed("*", "subscribe", "d"), message("*")),
			asks(word("PING"), word("PSUBSCRIBE", "e*")), answers(message("*"), "*2\r\n", text("pong"), text(""), confirmed("*", "psubscribe", "e*")),
			asks(word("UNSUBSCRIBE")), answers(message("*"), confirmed("*", "unsubscribe", "c"), confirmed("*", "unsubscribe", "d"))},
			"subscribe =subscribe psubscribe =psubscribe unsubscribe =unsubscribe"},
		"subscriptions, pipelined": {[]turn{asks(word("SUBSCRIBE", "c", "d"), word("SUBSCRIBE", "e")),
			answers(confirmed("*", "subscribe", "c"), confirmed("*", "subscribe", "d"), confirmed("*", "subscribe", "e"))}, "subscribe subscribe =subscribe =subscribe"},
		"a subscription, beside commands": {[]turn{asks(word("SUBSCRIBE", "c"), get), answers(confirmed(">", "subscribe", "c"), message(">"), text("1")),
			asks(word("LRANGE", "l", "0", "1")), answers(message("*"))}, "subscribe get =subscribe =get lrange =lrange"},
		"a subscription that is refused": {[]turn{asks(word("SUBSCRIBE", "c", "d"), get), answers("-NOPERM\r\n", text("1"))}, "subscribe get =subscribe! =get"},
		"a list that looks like one":     {[]turn{asks(word("LRANGE", "l", "0", "2")), answers(confirmed("*", "subscribe", "c"))}, "lrange =lrange"},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, redis.Language, tc.turns, tc.want) })
	}
}

// TestOtherwise: who does not speak the language from the begin takes turns.
func TestOtherwise(t *testing.T) {
	for name, turns := range map[string][]turn{
		"inline":            {asks("PING\r\n"), answers("+PONG\r\n")},
		"an inline integer": {asks(":1\r\n"), answers("-ERR\r\n")},
		"encrypted":         {asks("\x16\x03\x01\x02\x00"), answers("\x16\x03\x03")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, redis.Language, turns, "request =request") })
	}
}

// TestNothingIsHeldBackForGood gives what looks like the protocol and is not.
func TestNothingIsHeldBackForGood(t *testing.T) {
	get := asks("*1\r\n$3\r\nGET\r\n")
	for name, turns := range map[string][]turn{
		"inline":         {get, asks("PING\r\n")},
		"no number":      {asks("*x\r\n")},
		"below nothing":  {asks("*-2\r\n")},
		"no name":        {asks("*1\r\n*0\r\n")},
		"an HTTP answer": {get, answers("HTTP/1.1 400\r\n")},
		"too long":       {asks("*1\r\n$16777217\r\n")},
		"too many":       {asks("*16777217\r\n")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, redis.Language, turns...) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, redis.Language, []string{command("SUBSCRIBE", "a", "b")},
		[]string{"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"})
}
