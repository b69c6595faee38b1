package sketch

import (
	"reflect"
	"testing"

	lb "github.com/lockbench/lockbench"
)

func TestParse(t *testing.T) {
	s := Must("reentrant; ms; 1 c A a lock=m shared; 2 r A a ok until=9 token=3; 3 write A a seq=4 plain=0/0/1 checked=0/0/skipped\n ⇒ grant valid")
	want := lb.History{
		{At: 1e6, Kind: lb.KindCall, Op: lb.OpAcquire, Client: "A", ID: "a", Lock: "m", Shared: true},
		{At: 2e6, Kind: lb.KindReturn, Op: lb.OpAcquire, Client: "A", ID: "a", Lock: "l", Result: lb.OK, Until: 9e6, Token: 3},
		{At: 3e6, Kind: lb.KindWrite, Client: "A", ID: "a", Lock: "l", Seq: 4, Copies: &lb.CopyEffects{
			Plain: lb.CopyEffect{New: 1, Result: lb.Landed}, Checked: lb.CopyEffect{Result: lb.Skipped}}},
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
