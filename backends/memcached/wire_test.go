package memcached_test

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/backends/memcached"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

func TestLanguage(t *testing.T) {
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"granted and deleted": {[]turn{asks("add k 0 6 2\r\nme\r\n"), answers("STORED\r\n"), asks("delete k\r\n"), answers("DELETED\r\n")}, "add =add delete =delete"},
		"refused":             {[]turn{asks("add k 0 6 2\r\nme\r\n"), answers("NOT_STORED\r\n"), asks("delete k\r\n"), answers("NOT_FOUND\r\n")}, "add =add! delete =delete!"},
		"read and compared":   {[]turn{asks("gets k\r\n"), answers("VALUE k 0 2 7\r\nme\r\nEND\r\n"), asks("cas k 0 -1 0 7\r\n\r\n"), answers("EXISTS\r\n")}, "gets =gets cas =cas!"},
		"nothing there":       {[]turn{asks("get k\r\n"), answers("END\r\n")}, "get =get!"},
		"data like answers":   {[]turn{asks("set k 0 0 12\r\nEND\r\nadd x 0\r\n", "get k\r\n"), answers("STORED\r\nVALUE k 0 5\r\nEND\r\n\r\nEND\r\n")}, "set get =set =get"},
		"several keys":        {[]turn{asks("get a b\r\n"), answers("VALUE a 0 1\r\nx\r\nVALUE b 0 1\r\ny\r\nEND\r\n"), asks("incr n 1\r\n"), answers("8\r\n")}, "get =get incr =incr"},
		"without an answer":   {[]turn{asks("set k 0 0 1 noreply\r\nx\r\ndelete k noreply\r\nget k\r\n"), answers("END\r\n")}, "set delete get =get!"},
		"about the server":    {[]turn{asks("version\r\nstats\r\nadd k 0 0 1\r\nx\r\n"), answers("VERSION 1.6.18\r\nSTAT pid 1\r\nSTAT uptime 2\r\nEND\r\nSTORED\r\n")}, "add =add"},
		"a list":              {[]turn{asks("lru_crawler metadump all\r\nget k\r\n"), answers("key=k exp=-1\r\nkey=l exp=-1\r\nEND\r\nEND\r\n")}, "get =get!"},
		"busy":                {[]turn{asks("lru_crawler metadump all\r\nget k\r\n"), answers("BUSY crawling\r\nEND\r\n")}, "get =get!"},
		"meta":                {[]turn{asks("ms k 2 T5 ME\r\nme\r\nmg k v\r\nmd k\r\nmg k v\r\n"), answers("NS\r\nVA 2\r\nme\r\nHD\r\nEN\r\n")}, "ms mg md mg =ms! =mg =md =mg!"},
		"errors":              {[]turn{asks("add k 0 0 1\r\nx\r\nbogus\r\n"), answers("SERVER_ERROR out of memory storing object\r\nERROR\r\n")}, "add bogus =add! =bogus!"},
		"the end":             {[]turn{asks("quit\r\n")}, ""},
		"nobody asked":        {[]turn{answers("ERROR Too many open connections\r\n")}, ""},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, memcached.Language, tc.turns, tc.want) })
	}
}

// TestOtherwise: who does not speak the language from the begin takes turns.
func TestOtherwise(t *testing.T) {
	for name, turns := range map[string][]turn{
		"binary":    {asks("\x80\x0b\x00\x00"), answers("\x81\x0b\x00\x00")},
		"encrypted": {asks("\x16\x03\x01\x02\x00"), answers("\x16\x03\x03")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, memcached.Language, turns, "request =request") })
	}
}

// TestNothingIsHeldBackForGood gives what looks like the protocol and is not, or can't be followed.
func TestNothingIsHeldBackForGood(t *testing.T) {
	for name, turns := range map[string][]turn{
		"no end":          {asks(strings.Repeat("x", 70_000))},
		"no size":         {asks("set k 0 0 x\r\n")},
		"a negative size": {asks("set k 0 0 -5\r\n")},
		"quiet":           {asks("mg k v q\r\n"), answers("V")},
		"events":          {asks("watch\r\n"), answers("O")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, memcached.Language, turns...) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, memcached.Language, []string{"add k 0 6 2\r\nme\r\ngets k\r\n", "delete k noreply\r\nms k 1\r\nx\r\n"},
		[]string{"STORED\r\nVALUE k 0 2 7\r\nme\r\nEND\r\n", "VA 1\r\nx\r\n"})
}
