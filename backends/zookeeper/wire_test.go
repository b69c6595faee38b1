package zookeeper_test

import (
	"encoding/binary"
	"testing"

	"github.com/lockbench/lockbench/backends/zookeeper"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

// sized puts its length before a message.
func sized(m string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(m)))) + m }

// zooRequest is one of a number and an operation.
func zooRequest(number, op int32) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(number))
	return sized(string(binary.BigEndian.AppendUint32(b, uint32(op))) + "more")
}

// zooReply is one to a number, with an error.
func zooReply(number, code int32) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(number))
	b = binary.BigEndian.AppendUint64(b, 77)
	return sized(string(binary.BigEndian.AppendUint32(b, uint32(code))) + "more")
}

func TestZooKeeper(t *testing.T) {
	const create, children, ping, sasl, end, setWatches = 1, 12, 11, 102, -11, 101
	begin := asks(zooRequest(0, 30000))
	begun := answers(sized("\x00\x00\x00\x00" + "\x00\x00\x75\x30" + "\x00\x00\x00\x00\x00\x00\x01\x2f" + "\x00\x00\x00\x02" + "\xab\x01" + "\x00"))
	refused := answers(sized("\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x02" + "\x00\x00" + "\x00"))
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"a session":         {[]turn{begin, begun}, "(12f:ab01)"},
		"none":              {[]turn{begin, refused}, ""},
		"no password":       {[]turn{begin, answers(sized("\x00\x00\x00\x00" + "\x00\x00\x75\x30" + "\x00\x00\x00\x00\x00\x00\x01\x2f" + "\xff\xff\xff\xff"))}, "(12f:)"},
		"one by one":        {[]turn{begin, begun, asks(zooRequest(1, create)), answers(zooReply(1, 0)), asks(zooRequest(2, children)), answers(zooReply(2, -101))}, "(12f:ab01) create =create children =children!"},
		"in a row":          {[]turn{begin, begun, asks(zooRequest(1, create), zooRequest(2, 99)), answers(zooReply(1, 0), zooReply(2, 0))}, "(12f:ab01) create operation 99 =create =operation 99"},
		"pings":             {[]turn{begin, begun, asks(zooRequest(-2, ping), zooRequest(1, create), zooRequest(-2, ping)), answers(zooReply(-2, 0), zooReply(1, 0), zooReply(-2, 0))}, "(12f:ab01) ping~ create ping~ =ping~ =create =ping~"},
		"watches":           {[]turn{begin, begun, asks(zooRequest(-8, setWatches)), answers(zooReply(-8, 0), zooReply(-1, 0)), asks(zooRequest(1, create)), answers(zooReply(-1, 0), zooReply(1, 0))}, "(12f:ab01) create =create"},
		"credentials":       {[]turn{begin, begun, asks(zooRequest(-4, 100), zooRequest(1, sasl)), answers(zooReply(-4, 0), zooReply(1, 0))}, "(12f:ab01)"},
		"the end":           {[]turn{begin, begun, asks(zooRequest(3, end)), answers(zooReply(3, 0))}, "(12f:ab01) close =close"},
		"too short to tell": {[]turn{begin, begun, asks(sized("abc")), answers(sized("abc"))}, "(12f:ab01)"},
		"four letters":      {[]turn{asks("ruok"), answers("imok")}, "request =request"},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, zookeeper.Language, tc.turns, tc.want) })
	}
}

// TestOtherwise: who does not speak the language from the begin takes turns.
func TestOtherwise(t *testing.T) {
	tls := []turn{asks("\x16\x03\x01\x02\x00"), answers("\x16\x03\x03")}
	for name, turns := range map[string][]turn{
		"four letters": {asks("ruok"), answers("imok")},
		"encrypted":    tls,
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, zookeeper.Language, turns, "request =request") })
	}
}

// TestNothingIsHeldBackForGood gives what looks like the protocol and is not.
func TestNothingIsHeldBackForGood(t *testing.T) {
	for name, turns := range map[string][]turn{
		"too long": {asks("\x00\x00\x00\x00"), asks("\x02\x00\x00\x00")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, zookeeper.Language, turns...) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, zookeeper.Language, []string{zooRequest(0, 1) + zooRequest(1, 1)},
		[]string{zooReply(1, 0)})
}
