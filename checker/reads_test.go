package checker

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestCopyCounts are of what is not a counter: a stock that falls, and reads that their
// clients rely on.
func TestCopyCounts(t *testing.T) {
	const two = "1 c A a;2 r A a ok;3 c B b lock=m;4 r B b ok lock=m;"
	for _, tt := range []struct {
		name, text string
		want       Copy
	}{
		{"a sale over a sale", two + "5 write A a seq=1 plain=7/7/6;6 write A a seq=2 plain=6/7/6", Copy{Writes: 2, Lost: 1, Stale: 1}},
		{"a delivery over a delivery", two + "5 write A a seq=1 plain=0/0/20;6 write A a seq=2 plain=20/0/20", Copy{Writes: 2, Lost: 20, Stale: 1}},
		{"two locks", two + "5 write A a seq=1 plain=7/7/6;6 write A a seq=2 plain=6/7/6;7 write B b lock=m seq=3 plain=5/0/1", Copy{Writes: 3, Lost: 6, Stale: 2}},
		{"reads", two + "5 read A a seq=1 plain=7;6 read A a seq=2 plain=7/7/landed;7 read A a seq=3 plain=7/7/skipped;8 read A a seq=4 plain=7/9/landed", Copy{Stale: 1, Skipped: 1}},
	} {
		s := shorthand.Must(tt.text)
		if got := judge(s.Plan, s.Events).Copies[CopyPlain]; got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestTornRead: who relies on what has changed was told as a writer is: what it saw, why
// it could, and by whom.
func TestTornRead(t *testing.T) {
	s := shorthand.Must(`ms;1 c A a shared;2 r A a ok until=10;3 read A a seq=1 plain=7;12 c B b;13 r B b ok until=900
		14 write B b seq=2 plain=7/7/8;15 read A a seq=3 plain=8/7/landed checked=8/7/skipped;16 C B b;17 R B b ok`)
	r := judge(s.Plan, s.Events)
	const want = "overstay: A found 8 at 0.014 s (plain): it had read 7 at 0.002 s, its lease ended at 0.009 s"
	if r.Outcome != lb.Check || !strings.HasPrefix(r.Reason, want) || strings.Contains(r.Reason, "undid") {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
}
