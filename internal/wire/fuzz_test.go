package wire

import (
	"slices"
	"testing"
)

// FuzzConn gives a connection any bytes, in any pieces: nothing may get lost. Each byte of
// turns is how many bytes come next, and whose they are.
func FuzzConn(f *testing.F) {
	for _, said := range []string{redisCommand("SUBSCRIBE", "a", "b"), zooRequest(0, 1) + zooRequest(1, 1), preface + callOf(1, "Put") + frameOf(0, 0, 1, "\x00\x00\x00\x00\x00"), packet(1, "login") + packet(0, "\x03/*a*/SELECT")} {
		for _, answered := range []string{"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", zooReply(1, 0), accepted(1) + done(1, "0"), greetingOf + packet(1, "\xff")} {
			f.Add([]byte(said), []byte(answered), []byte("\x04\x0a\xff\x0e\xff"))
			f.Add([]byte(said), []byte(answered), []byte("\xff\xff"))
		}
	}
	f.Fuzz(func(t *testing.T, said, answered, turns []byte) {
		var (
			c    Conn
			all  = [2][]byte{said, answered}
			left = [2][]byte{slices.Clone(said), slices.Clone(answered)}
			got  [2][]byte
		)
		for _, turn := range slices.Concat(turns, []byte{0xfe, 0xff}) {
			who, n := side(turn&1), int(turn>>1)
			if n == 0x7f {
				n = len(left[who])
			}
			n = min(n, len(left[who]))
			take := []func([]byte) []Message{c.Said, c.Answered}[who]
			for _, m := range take(left[who][:n]) {
				got[who] = append(got[who], m.Bytes...)
			}
			clear(left[who][:n])
			left[who] = left[who][n:]
		}
		fromClient, fromServer := c.Rest()
		for who, rest := range [][]byte{fromClient, fromServer} {
			if whole := append(got[who], rest...); !slices.Equal(whole, all[who]) {
				t.Fatalf("%q has become %q", all[who], whole)
			}
		}
	})
}
