package tap

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	backend "github.com/lockbench/lockbench/backends/redis"
	"github.com/lockbench/lockbench/lab"
)

var program, other, redis = netip.MustParseAddrPort("10.0.0.2:4000"), netip.MustParseAddrPort("10.0.0.2:4001"), netip.MustParseAddrPort("10.0.0.9:6379")

// talk is a host of which a test says what is said.
type talk struct {
	Tap
	numbers map[netip.AddrPort]map[netip.AddrPort]uint32 // of the next byte, by who says it to whom
}

func newTalk() *talk { return &talk{Tap: Tap{Speaks: backend.Language}} }

func (t *talk) begin(from netip.AddrPort) {
	const near = 1<<32 - 3 // numbers run over
	if t.numbers == nil {
		t.numbers = map[netip.AddrPort]map[netip.AddrPort]uint32{}
	}
	for _, ends := range [][2]netip.AddrPort{{from, redis}, {redis, from}} {
		t.Hear(lab.Segment{From: ends[0], To: ends[1], Number: near, Begins: true})
		if t.numbers[ends[0]] == nil {
			t.numbers[ends[0]] = map[netip.AddrPort]uint32{}
		}
		t.numbers[ends[0]][ends[1]] = near + 1
	}
}

// next is the segment that says text.
func (t *talk) next(from, to netip.AddrPort, text string) lab.Segment {
	s := lab.Segment{From: from, To: to, Number: t.numbers[from][to], Payload: []byte(text)}
	t.numbers[from][to] += uint32(len(text))
	return s
}

func names(e *Ear) string {
	var all []string
	for _, m := range e.Answers() {
		all = append(all, m.Request)
	}
	return strings.Join(all, " ")
}

const get, val, push = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "$1\r\nv\r\n", ">2\r\n$10\r\ninvalidate\r\n$1\r\nk\r\n"

// TestEar hears of requests since, and of what was asked before only that it was open.
func TestEar(t *testing.T) {
	host := newTalk()
	host.begin(program)
	host.begin(other)
	host.Hear(host.next(program, redis, get))
	host.Hear(host.next(redis, program, val))
	host.Hear(host.next(other, redis, get))
	ear := host.Listen()
	if ear.Open() != 1 {
		t.Errorf("%d open", ear.Open())
	}
	host.Hear(host.next(redis, other, val)) // to what was asked before
	host.Hear(host.next(redis, program, push))
	host.Hear(lab.Segment{From: redis, To: program, Number: host.numbers[redis][program]}) // a confirmation
	if names(ear) != "" {
		t.Errorf("answers %q to nothing that was asked since", names(ear))
	}
	asks := host.next(program, redis, get+get)
	host.Hear(asks)
	host.Hear(asks) // again
	answer := host.next(redis, program, val)
	host.Hear(answer)
	host.Hear(answer)
	if said, told := ear.Fell(); names(ear) != "get" || said != 3 || told != 4 {
		t.Errorf("answers %q; %d said and %d told and not confirmed", names(ear), said, told)
	}
	host.Hear(lab.Segment{From: redis, To: program, Number: host.numbers[redis][program], Confirms: true, Next: host.numbers[program][redis]})
	host.Hear(lab.Segment{From: program, To: redis, Number: host.numbers[program][redis], Confirms: true, Next: answer.Number})
	if said, told := ear.Fell(); said != 1 || told != 2 { // on the other connection nobody confirms anything
		t.Errorf("%d said and %d told and not confirmed", said, told)
	}
	ear.Close()
	host.Hear(host.next(redis, program, val))
	if names(ear) != "get" {
		t.Errorf("answers %q after its end", names(ear))
	}
	if after := host.Listen(); after.Open() != 0 {
		t.Errorf("%d open when all was answered", after.Open())
	}
}

// TestUnmet: that a server was not reached before says nothing of what did not arrive since.
func TestUnmet(t *testing.T) {
	host := newTalk()
	ask := func(from netip.AddrPort) {
		host.Hear(lab.Segment{From: from, To: redis, Number: 7, Begins: true})
	}
	ask(program)
	ear := host.Listen()
	ask(program) // as TCP asks again
	if said, told := ear.Fell(); said != 0 || told != 0 {
		t.Errorf("%d and %d of before", said, told)
	}
	ask(other)
	if said, told := ear.Fell(); said != 1 || told != 0 {
		t.Errorf("%d and %d, want 1 and 0", said, told)
	}
}

// TestGivenUp: an attempt to connect that nobody answers counts when there was time for an answer, also where it is
// given up for another; not one of before, nor one that is answered late.
func TestGivenUp(t *testing.T) {
	host := newTalk()
	ask := func(from, to netip.AddrPort) { host.Hear(lab.Segment{From: from, To: to, Number: 7, Begins: true}) }
	before, late := netip.MustParseAddrPort("10.0.0.2:4002"), netip.MustParseAddrPort("10.0.0.2:4003")
	ask(before, redis)
	ear := host.Listen()
	ask(before, redis)
	ask(program, redis)
	ask(other, redis)
	ask(late, redis)
	if n := ear.Unmet(); n != 0 {
		t.Errorf("%d have no answer, of what was asked just now", n)
	}
	time.Sleep(Soon + time.Millisecond)
	ask(redis, late)
	if n := ear.Unmet(); n != 2 {
		t.Errorf("%d have no answer, want 2", n)
	}
	if n := ear.Again(); n != 1 { // that of before
		t.Errorf("%d were asked again, want 1", n)
	}
}

// TestAgain: what is sent again counts once, whoever sends it, however TCP cuts it, and not what was so before.
func TestAgain(t *testing.T) {
	host := newTalk()
	host.begin(program)
	first := host.next(program, redis, get)
	host.Hear(first)
	host.Hear(first)
	ear := host.Listen()
	host.Hear(first)
	if n := ear.Again(); n != 0 {
		t.Errorf("%d of before", n)
	}
	second, third := host.next(program, redis, get), host.next(program, redis, get)
	host.Hear(second)
	host.Hear(third)
	both := second
	both.Payload = append(second.Payload, third.Payload...)
	answer := host.next(redis, program, val+val+val)
	for _, s := range []lab.Segment{both, third, answer} {
		host.Hear(s)
	}
	if n := ear.Again(); n != 2 {
		t.Errorf("two requests sent again as one count as %d", n)
	}
	host.Hear(answer)
	if n := ear.Again(); n != 3 {
		t.Errorf("%d with an answer that was sent again, want 3", n)
	}
	for range 3 {
		host.Hear(lab.Segment{From: other, To: redis, Number: 7, Begins: true})
	}
	if n := ear.Again(); n != 4 {
		t.Errorf("%d with a connection that was begun again, want 4", n)
	}
}

// TestEnds: who is gone waits for no answer, and the next connection from there is another.
func TestEnds(t *testing.T) {
	for _, by := range []netip.AddrPort{program, redis} {
		host := newTalk()
		host.begin(program)
		host.Hear(host.next(program, redis, get))
		to := map[netip.AddrPort]netip.AddrPort{program: redis, redis: program}
		host.Hear(lab.Segment{From: by, To: to[by], Number: host.numbers[by][to[by]], Ends: true})
		ear := host.Listen()
		if ear.Open() != 0 {
			t.Errorf("%d open", ear.Open())
		}
		host.begin(program)
		host.Hear(host.next(program, redis, get))
		host.Hear(host.next(redis, program, val))
		if names(ear) != "get" {
			t.Errorf("answers %q", names(ear))
		}
	}
}

// TestStream: in whatever order segments come, and however often, what was said is the same.
func TestStream(t *testing.T) {
	text := "what was said is the same"
	for _, order := range [][][2]int{
		{{0, 25}}, {{0, 5}, {5, 25}}, {{5, 25}, {0, 5}}, {{0, 10}, {0, 10}, {5, 25}}, {{10, 25}, {3, 12}, {0, 4}}, {{4, 6}, {4, 25}, {0, 4}, {0, 25}},
	} {
		var s stream
		s.begin(1<<32 - 9)
		var got []byte
		for _, piece := range order {
			got = append(got, s.take(uint32(1<<32-8+piece[0]), []byte(text[piece[0]:piece[1]]))...)
		}
		if string(got) != text {
			t.Errorf("%v: %q", order, got)
		}
		if again := s.take(1<<32-8, []byte(text)); len(again) > 0 {
			t.Errorf("%v: %q again", order, again)
		}
		if s.confirm(uint32(1<<32 - 8 + len(text))); len(s.unconfirmed) > 0 {
			t.Errorf("%v: %v are not confirmed", order, s.unconfirmed)
		}
	}
}
