package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
)

func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		kin       kinship
		in, wants string
	}{
		{lockKin, "peer-x zk-a redis-a mine redlock published-1 redis-b none",
			"Without a lock: none; Redis: redis-a redlock redis-b; ZooKeeper: zk-a; Libraries: peer-x; As published: published-1; Others: mine"},
		{faultKin, "kill-leader cut-two+server-clock kill-holder lose-reply kill@after-set pause-holder server-clock:drift weird none cut-leader client-clock",
			": none; client: kill-holder kill@after-set pause-holder client-clock; network: lose-reply cut-leader; server: kill-leader server-clock:drift; pairs: cut-two+server-clock; Others: weird"},
		{faultKin, "", ""},
	} {
		var got []string
		for _, g := range tt.kin.groups(strings.Fields(tt.in)) {
			got = append(got, g.Title+": "+strings.Join(g.Names, " "))
		}
		if s := strings.Join(got, "; "); s != tt.wants {
			t.Errorf("%s\n got %s\nwant %s", tt.in, s, tt.wants)
		}
	}
}

func TestAbsences(t *testing.T) {
	na := func(a, f, reason string) checker.Cell {
		return checker.Cell{Algorithm: a, Fault: f, Outcome: lb.NotAvailable, Reason: reason}
	}
	g := newGrid([]checker.Cell{
		na("a", "cut-leader", "a has no leader"), na("a", "kill-leader", "a has no leader"), na("a", "random", "a is shy\nand blind"),
		na("b", "cut-leader", "b has no leader"), na("b", "kill-leader", "b has no leader"),
		na("c", "cut-leader", "c has no leader"), {Algorithm: "c", Fault: "kill-leader", Outcome: lb.Safe},
	}, 1)
	var got []string
	for _, x := range absences(g) {
		got = append(got, fmt.Sprint(x.ID, x.Locks, x.Faults, " ", x.Reason))
	}
	want := []string{"na-1[a b] [cut-leader kill-leader] has no leader", "na-2[a] [random] is shy", "na-3[c] [cut-leader] has no leader"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestWorstFaultsOfALock(t *testing.T) {
	cell := func(a, f string, o lb.Outcome) checker.Cell {
		return checker.Cell{Algorithm: a, Fault: f, Outcome: o}
	}
	s := newGrid([]checker.Cell{
		cell("bad", "x", lb.Broken), cell("bad", "y", lb.Broken), cell("bad", "z", lb.Safe),
		cell("better", "x", lb.Safe), cell("better", "y", lb.Broken), cell("better", "z", lb.NotAvailable),
	}, 0).standings()
	if got, want := fmt.Sprint(s[0].Locks[0].Name, s[0].Locks[0].Faults, s[0].Locks[0].Of, s[0].Locks[1].Name, s[0].Locks[1].Faults, s[0].Locks[1].Of), "better[y] 2bad[x y] 3"; len(s) != 1 || got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFamilies(t *testing.T) {
	var series []curve
	for _, n := range strings.Fields("redis-1 redis-2 redis-3 redis-4 redis-5 redis-6 redis-7 redis-8 redlock zk-a zk-b etcd-lease mine") {
		series = append(series, curve{name: n})
	}
	var got []string
	for _, f := range families(series) {
		got = append(got, fmt.Sprint(f.file(), " ", len(f.curves)))
	}
	if want := []string{"redis 5", "redis-2 4", "zookeeper 2", "others 2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
