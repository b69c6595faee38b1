package shorthand

import (
	"reflect"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

func TestParse(t *testing.T) {
	s := Must("reentrant; ms; 1 c A a lock=m shared; 2 r A a ok until=9 token=3; 3 write A a seq=4 plain=0/0/1 checked=0/0/skipped\n ⇒ grant valid")
	want := history.Events{
		{At: 1e6, Kind: history.KindCall, Op: history.OpAcquire, Client: "A", ID: "a", Lock: "m", Shared: true},
		{At: 2e6, Kind: history.KindReturn, Op: history.OpAcquire, Client: "A", ID: "a", Lock: "l", Result: lb.AnswerOK, Until: 9e6, Token: 3},
		{At: 3e6, Kind: history.KindWrite, Client: "A", ID: "a", Lock: "l", Seq: 4, Copies: &history.CopyEffects{
			Plain: history.CopyEffect{New: 1, Result: history.Landed}, Checked: history.CopyEffect{Result: history.Skipped}}},
	}
	if !reflect.DeepEqual(s.Events, want) || !s.Plan.Traits.Reentrant || len(s.Wants) != 1 || s.Wants[0] != "grant valid" {
		t.Errorf("got %+v", s)
	}
	for _, bad := range []string{"1", "x c A a", "1 q A a", "1 c A", "1 c A a until=x", "1 c A a what=1", "1 read A a seq=1 plain=x"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
