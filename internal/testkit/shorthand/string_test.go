package shorthand

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
)

// TestString: what String writes is read back as it was.
func TestString(t *testing.T) {
	h := Must("1 c A a lock=m shared worker=w; 2 r A a ok until=9 token=3; 2 C B a; 3 R B a lost; 3 renew A a until=12 call=2" +
		"\n4 lost A a lock=n; 4 read A a seq=1 plain=7 checked=8 fenced=0/0/refused; 5 write A a seq=2 plain=0/0/1 checked=0/3/skipped fenced=4/4/5" +
		"\n6 step A a before-write phase=x; 6 wake A retry-delay; 6 wake A push id=a; 7 silent w call=4; 8 dead w name=x" +
		"\n8 fault cut strike; 9 fault cut healed proven; 9 act restart s1 begin; 9 act restart s1 end; 9 failed A; 9 R A a released; 9 end").Events
	s := String(h)
	if back := Must(s).Events; !reflect.DeepEqual(h, back) {
		t.Errorf("%s\nbecomes\n%s", s, String(back))
	}
	if got := String(history.Events{{At: 1, Kind: history.KindLost}}); got != "1 lost ? ?\n" {
		t.Errorf("got %q", got)
	}
}

// TestStringOfDocs does the same with every example of the contract.
func TestStringOfDocs(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/history.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for block := range strings.SplitSeq(string(doc), "\n\n") {
		s, err := Parse(block)
		if err != nil || len(s.Events) == 0 {
			continue
		}
		ran++
		if back, err := Parse(String(s.Events)); err != nil || !reflect.DeepEqual(s.Events, back.Events) {
			t.Errorf("%s\nbecomes\n%s(%v)", block, String(s.Events), err)
		}
	}
	if ran < 25 {
		t.Errorf("only %d examples were found", ran)
	}
}
