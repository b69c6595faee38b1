package nats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/backends/nats"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

const info, connect = "INFO {\"server_id\":\"A\"}\r\n", "CONNECT {\"verbose\":false}\r\nPING\r\n"

// says is a message with a header, from a client or a server: what stands before the sizes is the line's begin.
func says(begin, header, data string) string {
	head := "NATS/1.0" + header + "\r\n\r\n"
	return fmt.Sprintf("%s %d %d\r\n%s%s\r\n", begin, len(head), len(head)+len(data), head, data)
}

// plain is one without.
func plain(begin, data string) string { return fmt.Sprintf("%s %d\r\n%s\r\n", begin, len(data), data) }

func TestLanguage(t *testing.T) {
	const at0, wrong = "\r\nNats-Expected-Last-Subject-Sequence: 0", `{"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 9"},"stream":"KV_b","seq":0}`
	begin := []turn{answers(info), asks(connect, "SUB _INBOX.a.* 1\r\n"), answers("PONG\r\n")}
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"set up":                {[]turn{asks(plain("PUB $JS.API.INFO _INBOX.a.1", "")), answers(plain("MSG _INBOX.a.1 1", `{"type":"x"}`))}, ""},
		"granted":               {[]turn{asks(says("HPUB $KV.b.k _INBOX.a.1", at0, "me")), answers(plain("MSG _INBOX.a.1 1", `{"stream":"KV_b","seq":3}`))}, "put =put"},
		"refused":               {[]turn{asks(says("HPUB $KV.b.k _INBOX.a.1", at0, "me")), answers(plain("MSG _INBOX.a.1 1", wrong))}, "put =put!"},
		"deleted":               {[]turn{asks(says("HPUB $KV.b.k _INBOX.a.1", "\r\nKV-Operation: DEL", "")), answers(plain("MSG _INBOX.a.1 1", `{"seq":4}`))}, "delete =delete"},
		"purged":                {[]turn{asks(says("HPUB $KV.b.k _INBOX.a.1", "\r\nkv-operation: PURGE", "")), answers(plain("MSG _INBOX.a.1 1", `{"seq":4}`))}, "purge =purge"},
		"a marker that is read": {[]turn{asks(plain("PUB $JS.API.DIRECT.GET.KV_b.$KV.b.k _INBOX.a.1", "")), answers(says("HMSG _INBOX.a.1 1", "\r\nKV-Operation: DEL\r\nNats-Sequence: 4", ""))}, "get =get"},
		"nothing there":         {[]turn{asks(plain("PUB $JS.API.DIRECT.GET.KV_b.$KV.b.k _INBOX.a.1", "")), answers(says("HMSG _INBOX.a.1 1", " 404 Message Not Found", ""))}, "get =get!"},
		"nobody there":          {[]turn{asks(says("HPUB $KV.b.k _INBOX.a.1", at0, "me")), answers(says("HMSG _INBOX.a.1 1", " 503", ""))}, "put =put!"},
		"by the leader":         {[]turn{asks(plain("PUB $JS.API.STREAM.MSG.GET.KV_b _INBOX.a.1", `{"last_by_subj":"$KV.b.k"}`)), answers(plain("MSG _INBOX.a.1 1", `{"message":{}}`))}, "get =get"},
		"watched":               {[]turn{asks(plain("PUB $JS.API.CONSUMER.CREATE.KV_b.w.$KV.b.k _INBOX.a.1", "{}")), answers(plain("MSG _INBOX.a.1 1", "{}"), says("HMSG $KV.b.k 2 $JS.ACK.KV_b.w.1.2.3.4.0", "", "me")), asks(plain("PUB $JS.API.CONSUMER.DELETE.KV_b.w _INBOX.a.2", "")), answers(plain("MSG _INBOX.a.2 1", "{}"))}, "watch =watch unwatch =unwatch"},
		"out of order":          {[]turn{asks(says("HPUB $KV.b.k _INBOX.a.1", at0, "me"), plain("PUB $JS.API.DIRECT.GET.KV_b.$KV.b.k _INBOX.a.2", "")), answers(says("HMSG _INBOX.a.2 1", " 404", ""), plain("MSG _INBOX.a.1 1", `{"seq":3}`))}, "put get =get! =put"},
		"without an answer":     {[]turn{asks(plain("PUB $KV.b.k", "me"), plain("PUB some.word", "hello"))}, "put publish"},
		"data like lines":       {[]turn{asks(plain("PUB $KV.b.k _INBOX.a.1", "PUB x 3\r\nyes\r\n")), answers(plain("MSG _INBOX.a.1 1", "{\"seq\":1}\r\n-ERR"))}, "put =put"},
		"errors, small words":   {[]turn{asks("ping\r\nunsub 1\r\n"), answers("pong\r\n-ERR 'Unknown'\r\n+OK\r\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, nats.Language, append(begin[:3:3], tc.turns...), tc.want) })
	}
}

// TestOtherwise: who does not speak the language from the begin takes turns.
func TestOtherwise(t *testing.T) {
	for name, turns := range map[string][]turn{
		"another":   {asks("GET / HTTP/1.1\r\n"), answers("HTTP/1.1 200 OK\r\n")},
		"encrypted": {asks("\x16\x03\x01\x02\x00"), answers("\x16\x03\x03")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, nats.Language, turns, "request =request") })
	}
}

// TestNothingIsHeldBackForGood gives what looks like the protocol and is not.
func TestNothingIsHeldBackForGood(t *testing.T) {
	for name, turns := range map[string][]turn{
		"no end":            {asks("PUB " + strings.Repeat("x", 70_000))},
		"no size":           {asks("PUB $KV.b.k x\r\n")},
		"a negative size":   {asks("PUB $KV.b.k -5\r\n")},
		"too few words":     {asks("HPUB $KV.b.k 5\r\n12345\r\n")},
		"a header too long": {asks("HPUB $KV.b.k 50 5\r\n12345\r\n")},
		"TLS":               {answers(info), asks("\x16\x03\x01"), answers("\x16\x03\x03")},
		"nothing":           {asks("\r\n")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, nats.Language, turns...) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, nats.Language, []string{connect + says("HPUB $KV.b.k _INBOX.a.1", "\r\nKV-Operation: DEL", "x")},
		[]string{info + plain("MSG _INBOX.a.1 1", `{"seq":1}`)})
}
