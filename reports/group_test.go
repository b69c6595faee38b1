package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

func TestGroups(t *testing.T) {
	told := func(groups []group) string {
		var all []string
		for _, g := range groups {
			all = append(all, g.Title+": "+strings.Join(g.Names, " "))
		}
		return strings.Join(all, "; ")
	}
	rows := newGrid([]checker.Cell{{Algorithm: "mine"}, {Algorithm: "none", Group: "Without a lock"}, {Algorithm: "redis-a"},
		{Algorithm: "zk-a", Group: "ZooKeeper"}, {Algorithm: "redis-a", Fault: "kill", Group: "Redis"}, {Algorithm: "redlock", Group: "Redis"}}, 1)
	if got, want := told(rows.RowGroups), "Without a lock: none; Redis: redis-a redlock; ZooKeeper: zk-a; Others: mine"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	cell := func(fault string, family history.Family) checker.Cell {
		return checker.Cell{Algorithm: "a", Fault: fault, Family: family}
	}
	g := newGrid([]checker.Cell{cell("kill-leader", history.Servers), cell("strange", history.Clients), cell("random", history.Several),
		cell("weird", ""), cell("none", ""), cell("flushall", history.Servers), cell("client-clock", history.Clocks),
		// What has no meaning for a lock says nothing of what it strikes.
		cell("cut-leader", ""), {Algorithm: "b", Fault: "cut-leader", Family: history.Servers}, cell("lose-reply", history.Network)}, 1)
	if got, want := told(g.ColGroups), ": none; client: strange; network: lose-reply; clock: client-clock; server: kill-leader flushall cut-leader; one after the other: random; Others: weird"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
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
	for i, title := range strings.Fields("Redis Redis Redis Redis Redis Redis Redis Redis Redis ZooKeeper ZooKeeper etcd") {
		series = append(series, curve{name: fmt.Sprint(i), group: title})
	}
	series = append(series, curve{name: "mine"})
	var got []string
	for _, f := range families(series) {
		got = append(got, fmt.Sprint(f.file(), " ", len(f.curves)))
	}
	if want := []string{"redis 5", "redis-2 4", "zookeeper 2", "others 2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
