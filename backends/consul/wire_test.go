package consul_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/backends/consul"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

// sends is a request with a body.
func sends(line, body string) string {
	return fmt.Sprintf("%s HTTP/1.1\r\nHost: c\r\nContent-Length: %d\r\n\r\n%s", line, len(body), body)
}

// says is an answer with one.
func says(status, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nX-Consul-Index: 9\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

func TestLanguage(t *testing.T) {
	const (
		ok    = "200 OK"
		asked = " HTTP/1.1\r\nHost: c\r\n\r\n"
		key   = "/v1/kv/lockbench%2Fa"
	)
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"granted":            {[]turn{asks(sends("PUT "+key+"?acquire=s&flags=0", "me")), answers(says(ok, "true"))}, "acquire =acquire"},
		"held":               {[]turn{asks(sends("PUT "+key+"?acquire=s", "me")), answers(says(ok, "false\n"))}, "acquire =acquire!"},
		"a session is over":  {[]turn{asks(sends("PUT "+key+"?acquire=s", "me")), answers(says("500 Internal Server Error", "invalid session"))}, "acquire =acquire!"},
		"released":           {[]turn{asks(sends("PUT "+key+"?release=s", "")), answers(says(ok, "true"))}, "release =release"},
		"put and deleted":    {[]turn{asks(sends("PUT "+key, "me")), answers(says(ok, "true")), asks("DELETE " + key + asked), answers(says(ok, "true"))}, "put =put delete =delete"},
		"read":               {[]turn{asks("GET " + key + asked), answers(says(ok, `[{"LockIndex":1}]`))}, "get =get"},
		"nothing there":      {[]turn{asks("GET " + key + "?consistent" + asked), answers(says("404 Not Found", ""))}, "get =get!"},
		"waited for":         {[]turn{asks("GET " + key + "?index=9&wait=10s" + asked), answers(says(ok, "[]"))}, "watch =watch"},
		"a session":          {[]turn{asks(sends("PUT /v1/session/create", "{}")), answers(says(ok, `{"ID":"a-b"}`)), asks(sends("PUT /v1/session/renew/a-b", "")), answers(says(ok, "[]")), asks(sends("PUT /v1/session/destroy/a-b", "")), answers(says(ok, "true"))}, "create =create(a-b) renew~ =renew~ destroy =destroy"},
		"renewed too late":   {[]turn{asks(sends("PUT /v1/session/renew/a-b", "")), answers(says("404 Not Found", "not found"))}, "renew~ =renew~!"},
		"no lock":            {[]turn{asks("GET /v1/status/leader" + asked), answers(says(ok, `"a:1"`)), asks("GET " + key + asked), answers(says(ok, "[]"))}, "get =get"},
		"two at once":        {[]turn{asks(sends("PUT "+key+"?acquire=s", "me"), "GET "+key+asked), answers(says(ok, "false"), says(ok, "[]"))}, "acquire get =acquire! =get"},
		"in chunks":          {[]turn{asks("GET " + key + asked), answers("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n[{}]\r\n1\r\n\n\r\n0\r\n\r\n"), asks("GET " + key + asked), answers(says("404 Not Found", ""))}, "get =get get =get!"},
		"nothing to say":     {[]turn{asks("HEAD " + key + asked), answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), asks("GET " + key + asked), answers(says(ok, "[]"))}, "get =get get =get"},
		"go on, then no":     {[]turn{asks(sends("PUT "+key+"?release=s", "x")), answers("HTTP/1.1 100 Continue\r\n\r\n", says(ok, "false"))}, "release =release!"},
		"a body like a head": {[]turn{asks(sends("PUT "+key+"?acquire=s", "PUT /v1/kv/b?release=s HTTP/1.1\r\n\r\n")), answers(says(ok, "true"))}, "acquire =acquire"},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, consul.Language, tc.turns, tc.want) })
	}
}

// TestOtherwise: who does not speak the language from the begin takes turns.
func TestOtherwise(t *testing.T) {
	for name, turns := range map[string][]turn{
		"another":   {asks("*1\r\n$4\r\nPING\r\n"), answers("+PONG\r\n")},
		"encrypted": {asks("\x16\x03\x01\x02\x00"), answers("\x16\x03\x03")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, consul.Language, turns, "request =request") })
	}
}

// TestNothingIsHeldBackForGood gives what looks like the protocol and is not.
func TestNothingIsHeldBackForGood(t *testing.T) {
	const begun = "HTTP/1.1 200 OK\r\n"
	asked := asks("GET /v1/kv/a HTTP/1.1\r\n\r\n")
	for name, turns := range map[string][]turn{
		"no end":          {asks("GET /" + strings.Repeat("x", 70_000))},
		"a wrong size":    {asks("PUT /v1/kv/a HTTP/1.1\r\nContent-Length: x\r\n\r\n")},
		"a negative size": {asks("PUT /v1/kv/a HTTP/1.1\r\nContent-Length: -5\r\n\r\n")},
		"no size":         {asked, answers(begun + "\r\nuntil the end")},
		"no chunk":        {asked, answers(begun + "Transfer-Encoding: chunked\r\n\r\nno size\r\n")},
		"an endless size": {asked, answers(begun + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 100))},
		"TLS":             {asked, answers(says("200 OK", "[]")), asks("\x16\x03\x01"), answers("\x16\x03\x03")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, consul.Language, turns...) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, consul.Language, []string{sends("PUT /v1/kv/a?acquire=s", "x") + sends("PUT /v1/session/create", "{}")},
		[]string{says("200 OK", "true") + says("200 OK", `{"ID":"a"}`)})
}
