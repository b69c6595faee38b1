package workloads

import (
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestDeadlocks: who waits for whom, how it ended, and what is none.
func TestDeadlocks(t *testing.T) {
	// A holds l and asks for m, B holds m and asks for l.
	const two = "ms;10 c w.A a;11 r w.A a ok;12 c v.B b lock=m;13 r v.B b ok lock=m;14 c w.A c lock=m;"
	const leased = "ms;10 c w.A a;11 r w.A a ok until=900;12 c v.B b lock=m;13 r v.B b ok lock=m;14 c w.A c lock=m;"
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nobody waits", "ms;10 c w.A a;11 r w.A a ok", nil},
		{"one waits", two + "20 end", nil},
		{"two wait for each other", two + "15 c v.B d;99 end",
			[]string{"v.B waits for l, held by w.A, who waits for m, held by v.B, from 0.005 s to 0.089 s: it ended only with the run"}},
		{"one has given up before", two + "15 r w.A c fail lock=m;16 c v.B d;99 end", nil},
		{"one gives up", two + "15 c v.B d;30 r w.A c fail lock=m;99 end", []string{"to 0.020 s: it ended when a wait was given up"}},
		{"a lease ends", leased + "15 c v.B d;2000 end", []string{"to 0.890 s: it ended by the end of a lease"}},
		{"a lease had ended", leased + "901 c v.B d;2000 end", nil},
		{"one is killed", two + "15 c v.B d;30 dead w;99 end", []string{"to 0.020 s: it ended by a death"}},
		{"one is told", two + "15 c v.B d;30 lost w.A a;99 end", []string{"to 0.020 s: it ended by the loss of a lock"}},
		{"a lock that is none lets one in", two + "15 c v.B d;17 r v.B d ok;99 end", []string{"by a grant, though somebody relied on the lock"}},
		{"three", two + "15 c u.C e lock=n;16 r u.C e ok lock=n;17 c v.B f lock=n;18 c u.C g;99 end",
			[]string{"u.C waits for l, held by w.A, who waits for m, held by v.B, who waits for n, held by u.C, from 0.008 s"}},
		{"a line is no circle", two + "15 c u.C e;16 c v.B f lock=n;99 end", nil},
		{"with itself", "ms;10 c w.A a;11 r w.A a ok;12 c w.A b;50 end", []string{"w.A waits for l, held by w.A, from 0.002 s"}},
		{"readers don't wait for readers", "ms;10 c w.A a shared;11 r w.A a ok;12 c v.B b lock=m shared;13 r v.B b ok lock=m;14 c w.A c lock=m shared;15 c v.B d shared;50 end", nil},
		{"but for writers, one of several holders", "ms;9 c u.C x shared;10 c w.A a shared;11 r w.A a ok;11 r u.C x ok;12 c v.B b lock=m shared;13 r v.B b ok lock=m;14 c w.A c lock=m;15 c v.B d;50 end",
			[]string{"v.B waits for l, held by w.A, who waits for m, held by v.B"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ix, err := history.Of(shorthand.Must(tt.text).Events)
			if err != nil {
				t.Fatal(err)
			}
			knots := deadlocks(ix, 0)
			if len(knots) != len(tt.want) {
				t.Fatalf("%d deadlocks, want %d", len(knots), len(tt.want))
			}
			for i, k := range knots {
				f := k.finding(ix)
				if !strings.Contains(f.Sentence, tt.want[i]) || f.Mechanism != lb.Deadlock || len(f.Circle) != len(k.edges) {
					t.Errorf("%+v\nwant %s", f, tt.want[i])
				}
			}
		})
	}
}

// TestADeadlockIsStuck also where nobody came to work.
func TestADeadlockIsStuck(t *testing.T) {
	s := shorthand.Must("planned;ms;10 c w.A a;11 r w.A a ok;12 c v.B b lock=m;13 r v.B b ok lock=m;14 c w.A c lock=m;15 c v.B d;9000 end")
	ix, err := history.Of(s.Events)
	if err != nil {
		t.Fatal(err)
	}
	o := checker.Options{Workload: func(ix *history.Index) checker.Layer { return Transfer{Unordered: true}.Judge(ix, s.Plan) }}
	res := o.Check(t.Context(), s.Plan, ix)
	if res.Outcome != lb.Stuck || !strings.HasPrefix(res.Reason, "deadlock: v.B waits for l, held by w.A, who waits for m") {
		t.Errorf("%s: %s", res.Outcome, res.Reason)
	}
	if longer := deadlocks(ix, 9e9); longer != nil {
		t.Errorf("%d deadlocks of more than 9 s", len(longer))
	}
}
