package wiretest

import (
	"slices"
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
)

// Fuzz gives a connection any bytes, in any pieces: nothing may get lost, and smaller pieces
// must not say anything else. It begins with all pairs of what is said and answered.
func Fuzz(f *testing.F, l wire.Language, said, answered []string) {
	for _, said := range said {
		for _, answered := range answered {
			f.Add([]byte(said), []byte(answered), []byte("\x04\x0a\xff\x0e\xff"))
			f.Add([]byte(said), []byte(answered), []byte("\xff\xff"))
			f.Add([]byte(said), []byte(answered), []byte("\xff\xfe\xff")) // the server first
		}
	}
	f.Fuzz(func(t *testing.T, said, answered, turns []byte) {
		all := turnsOf(said, answered, turns)
		whole, _ := hear(t, l, all, func(int) bool { return false })
		pieces, _ := hear(t, l, all, func(int) bool { return true })
		if a, b := notes(whole), notes(pieces); a != b {
			t.Errorf("heard %q, and %q where each byte came by itself", a, b)
		}
	})
}

// turnsOf: each byte of turns is how many bytes come next, and whose they are.
func turnsOf(said, answered, turns []byte) (all []Turn) {
	left := [2][]byte{said, answered}
	for _, turn := range slices.Concat(turns, []byte{0xfe, 0xff}) {
		who, n := wire.Side(turn&1), int(turn>>1)
		if n == 0x7f {
			n = len(left[who])
		}
		n = min(n, len(left[who]))
		all = append(all, Turn{who, string(left[who][:n])})
		left[who] = left[who][n:]
	}
	return all
}
