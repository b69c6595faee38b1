package reports

import (
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
)

// hurtBy is a cell in which somebody was hurt in the one run.
func hurtBy(lock, fault string, o lb.Outcome, mechanism string) checker.Cell {
	c := checker.Cell{Algorithm: lock, Fault: fault, Outcome: o, Mechanism: mechanism, Reason: mechanism + ": so it went", Runs: 1, Violations: 1, OutageMS: 100}
	sure(&c)
	return c
}

func safe(lock, fault string, outage float64) checker.Cell {
	c := checker.Cell{Algorithm: lock, Fault: fault, Outcome: lb.Safe, Runs: 1, OutageMS: outage}
	sure(&c)
	return c
}

func TestRankTellsTheMechanismAndWhatIsOpen(t *testing.T) {
	g := newGrid([]checker.Cell{
		safe("calm", "x", 10), safe("calm", "y", 700),
		hurtBy("bad", "x", lb.Broken, lb.Overstay), hurtBy("bad", "y", lb.Broken, lb.DoubleGrant), hurtBy("bad", "z", lb.Check, lb.Ghost),
	}, 1)
	_, calm := g.rank("calm")
	if calm.OutageMS != 700 || calm.Outage != "y" || calm.Open != "1 run: up to 95% could still break" || len(calm.Mechanisms) > 0 {
		t.Errorf("%+v", calm)
	}
	_, bad := g.rank("bad")
	if got := strings.Join(bad.Mechanisms, ", "); got != "double grant, overstay" || bad.Open != "" {
		t.Errorf("%q, %+v", got, bad)
	}
}

func TestControl(t *testing.T) {
	convicted := []checker.Cell{hurtBy("none", "x", lb.Broken, lb.DoubleGrant), safe("a", "x", 1)}
	blind := append([]checker.Cell{safe("none", "y", 1)}, convicted...)
	unclear := hurtBy("none", "z", lb.Inconclusive, "")
	for _, c := range []struct {
		cells   []checker.Cell
		guarded bool
		says    string
		blind   bool
	}{
		{convicted, false, "convicted in 1 of 1 cell: the bench sees harm", false},
		{blind, false, "only 1 of 2 cells", true},
		{blind, true, "right without a lock", false},
		{convicted[1:], false, "", false},
		{append([]checker.Cell{unclear}, convicted[1:]...), false, "proved nothing, in 1 cell: whether the bench would have seen harm is not known.", true},
		{append([]checker.Cell{unclear}, convicted[1:]...), true, "proved nothing, in 1 cell", false},
		{append([]checker.Cell{unclear}, convicted...), false, "convicted in 1 of 1 cell", false},
	} {
		g := newGrid(c.cells, 1)
		if says, isBlind := g.control(c.guarded); !strings.Contains(says, c.says) || isBlind != c.blind || c.says == "" && says != "" {
			t.Errorf("%q, blind %v: want %q", says, isBlind, c.says)
		}
		for _, s := range g.standings() {
			for _, l := range s.Locks {
				if l.Name == "none" {
					t.Error("the control stands among the locks")
				}
			}
		}
	}
}

// TestAdvice: the lock with a token is the best where a store can refuse, and not where
// nothing can; what broke all the same is said with its mechanism.
func TestAdvice(t *testing.T) {
	g := newGrid([]checker.Cell{
		hurtBy("token", "pause", lb.Fence, lb.Overstay), safe("token", "kill", 4000),
		hurtBy("plain", "pause", lb.Check, lb.Overstay), safe("plain", "kill", 900),
		hurtBy("worst", "pause", lb.Broken, lb.DoubleGrant), hurtBy("worst", "kill", lb.Broken, lb.DoubleGrant),
		hurtBy("none", "pause", lb.Broken, lb.DoubleGrant),
	}, 1)
	tried := map[string][]history.Trouble{
		"token": history.Troubles(), "plain": history.Troubles(), "worst": {history.Failover, history.Freeze, history.Death}, "none": {history.Freeze}}
	of := advisor{fenced: func(lock string) bool { return lock == "token" }, tried: func(lock string) []history.Trouble { return tried[lock] }}
	list, unknown := of.advise(g)
	if len(unknown) > 0 {
		t.Errorf("%v were left out", unknown)
	}
	if len(list) != 3 {
		t.Fatalf("%d situations", len(list))
	}
	var got []string
	for _, a := range list {
		s := ""
		for _, l := range a.Locks {
			s += l.Name + " but " + l.But + "; "
			if l.Untried != map[string]string{"worst": "a clock that errs, a network that parts"}[l.Name] {
				t.Errorf("%s: not tried: %q", l.Name, l.Untried)
			}
		}
		got = append(got, s)
	}
	for i, want := range []string{
		"plain but ; token but such care is not enough under pause (overstay); worst but such care is not enough under pause (double grant), kill (double grant); ",
		"token but ; ",
		"plain but ; token but ; ",
	} {
		if got[i] != want {
			t.Errorf("%s: got %q, want %q", list[i].When, got[i], want)
		}
	}
	if !strings.Contains(list[1].Locks[0].Costs, "longest outage 4.00 s (kill)") {
		t.Errorf("%q", list[1].Locks[0].Costs)
	}
	if got, want := list[0].Locks[2].Says, "more held it at once than may under pause, kill"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var says []string
	locks, best, unknown := g.advised(func(*checker.Cell) *history.Plan { return nil })
	if len(best) > 0 || len(unknown) > 0 {
		t.Errorf("where no plan can be read, %v and %v are said of what was tried", best, unknown)
	}
	if _, _, unknown = g.advised(func(*checker.Cell) *history.Plan { return &history.Plan{} }); len(unknown) != 3 {
		t.Errorf("of %v no server died, says it", unknown)
	}
	died := &history.Plan{About: &history.About{Troubles: history.Troubles()}}
	if _, _, unknown = g.advised(func(c *checker.Cell) *history.Plan { c.Unproven = true; return died }); len(unknown) != 3 {
		t.Errorf("%v were left out, of locks to which no fault is known to have done anything", unknown)
	}
	if _, best, _ = g.advised(func(c *checker.Cell) *history.Plan { c.Unproven = false; return died }); len(best) == 0 {
		t.Error("nothing is advised where all was tried")
	}
	for _, l := range locks {
		says = append(says, l.Name+": "+l.Says)
	}
	if got, want := strings.Join(says, "\n"), `plain: safe if each write looks at the lease first; else somebody was hurt under pause
token: safe if your store checks fencing tokens; else somebody was hurt under pause
worst: more held it at once than may under pause, kill`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Of what no server died nothing is advised, however little went wrong.
	tried["plain"] = []history.Trouble{history.Freeze, history.Death}
	list, unknown = of.advise(g)
	if !slices.Equal(unknown, []string{"plain"}) || slices.ContainsFunc(list, func(a advice) bool {
		return slices.ContainsFunc(a.Locks, func(l advised) bool { return l.Name == "plain" })
	}) {
		t.Errorf("%v were left out, and not plain: %+v", unknown, list)
	}
	// Where no lock has tokens, or none that was weighed, it is said why nothing is advised.
	tried["plain"], tried["token"] = history.Troubles(), nil
	if list, _ = of.advise(g); len(list) != 3 || len(list[1].Locks) > 0 || list[1].None != "No lock that was weighed grants tokens; of those left out, these do: token." {
		t.Errorf("of a lock with tokens that was left out: %+v", list)
	}
	of.fenced = func(string) bool { return false }
	if list, _ = of.advise(g); len(list) != 3 || list[0].None != "" || list[1].None != "No lock that was weighed grants tokens." {
		t.Errorf("where no lock has tokens: %+v", list)
	}
	tried = nil
	if list, unknown = of.advise(g); list != nil || len(unknown) != 3 {
		t.Errorf("%v were left out, and advised is %+v", unknown, list)
	}
}

// TestPlainly: a sentence on a lock says no more than its cells do.
func TestPlainly(t *testing.T) {
	doubtful := hurtBy("lock", "cut", lb.Inconclusive, "")
	doubtful.Violations = 1
	for want, cells := range map[string][]checker.Cell{
		"nobody was hurt": {safe("lock", "none", 0), safe("lock", "kill", 0)},
		"nobody was hurt; harm was seen, too, in what proves nothing: under cut": {safe("lock", "kill", 0), doubtful},
		"more held it at once than may without any fault":                        {hurtBy("lock", "none", lb.Broken, lb.DoubleGrant), safe("lock", "kill", 0)},
		"more held it at once than may without any fault and under kill":         {hurtBy("lock", "none", lb.Broken, lb.DoubleGrant), hurtBy("lock", "kill", lb.Broken, lb.DoubleGrant)},
		"more held it at once than may under 3 of 4 faults": {safe("lock", "none", 0), safe("lock", "cut", 0), hurtBy("lock", "a", lb.Broken, lb.DoubleGrant),
			hurtBy("lock", "b", lb.Broken, lb.DoubleGrant), hurtBy("lock", "c", lb.Broken, lb.DoubleGrant)},
		"more held it at once than may, or somebody was hurt in spite of every care that it can offer, under a, b":                      {hurtBy("lock", "a", lb.Broken, lb.DoubleGrant), hurtBy("lock", "b", lb.Broken, lb.Overstay)},
		"safe if your store checks fencing tokens: more held it at once than may under a":                                               {hurtBy("lock", "a", lb.Fence, lb.DoubleGrant)},
		"safe if your store checks fencing tokens: more held it at once than may, or somebody was hurt, under a, b":                     {hurtBy("lock", "a", lb.Fence, lb.DoubleGrant), hurtBy("lock", "b", lb.Fence, lb.Overstay)},
		"safe if your store checks fencing tokens: the lock service dropped a grant while it was held under a":                          {hurtBy("lock", "a", lb.Fence, lb.VanishedGrant)},
		"the lock service dropped a grant while it was held under a":                                                                    {hurtBy("lock", "a", lb.Broken, lb.VanishedGrant)},
		"more held it at once than may, or the lock service dropped a grant while it was held under a, b":                               {hurtBy("lock", "a", lb.Broken, lb.VanishedGrant), hurtBy("lock", "b", lb.Broken, lb.DoubleGrant)},
		"the lock service dropped a grant while it was held, or somebody was hurt in spite of every care that it can offer, under a, b": {hurtBy("lock", "a", lb.Broken, lb.VanishedGrant), hurtBy("lock", "b", lb.Broken, lb.Overstay)},
		"somebody was hurt in spite of every care that it can offer, under b":                                                           {hurtBy("lock", "b", lb.Broken, lb.Overstay)},
	} {
		if _, r := newGrid(cells, 1).rank("lock"); r.plainly() != want {
			t.Errorf("got %q, want %q", r.plainly(), want)
		}
	}
}

// TestAdviceInASentence: whatever the lock was not seen in, and the care that it takes, is said with its name.
func TestAdviceInASentence(t *testing.T) {
	a := advice{When: "The data is here", Care: "The holder looks.", More: 1,
		Locks: []advised{{Name: "one"}, {Name: "two", Untried: "a clock that errs"}, {Name: "three", But: "such care is not enough under kill"}}}
	if got, want := a.sentence(), "The data is here. The holder looks. The best first: one, two (not tried: a clock that errs); the table has 1 more."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	a.Locks = a.Locks[2:]
	if got := a.sentence(); got != "" {
		t.Errorf("of none that would do: %q", got)
	}
	if got, want := a.nothing(), "The data is here. Also with such care something went wrong with each lock that was weighed."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	a.None = "No lock that was weighed grants tokens."
	if got, want := a.nothing(), "The data is here. No lock that was weighed grants tokens."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// advisedOf is what is advised for a holder that looks, of six locks, so many of which nothing hurt.
func advisedOf(safeLocks int) advice {
	var cells []checker.Cell
	for i, lock := range []string{"a", "b", "c", "d", "e", "f"} {
		c := safe(lock, "kill", 100)
		if i >= safeLocks {
			c = hurtBy(lock, "kill", lb.Broken, lb.DoubleGrant)
		}
		cells = append(cells, c)
	}
	list, _ := advisor{fenced: func(string) bool { return true }, tried: func(string) []history.Trouble { return history.Troubles() }}.advise(newGrid(cells, 1))
	return list[0]
}

// TestMoreWouldDo: the locks that are not named count only if the care was enough for them.
func TestMoreWouldDo(t *testing.T) {
	for n, more := range map[int]int{1: 0, 4: 0, 5: 1, 6: 2} {
		if a := advisedOf(n); a.More != more || len(a.Locks) != advisedLocks {
			t.Errorf("of %d that would do, %d are named, and %d more", n, len(a.Locks), a.More)
		}
	}
}

// TestRanking: what is said of the order is how locks are ordered.
func TestRanking(t *testing.T) {
	of := advisor{fenced: func(string) bool { return false }, tried: func(string) []history.Trouble { return history.Troubles() }}
	list, _ := of.advise(newGrid([]checker.Cell{
		hurtBy("few", "a", lb.Broken, lb.Overstay), safe("few", "b", 1), // one of two, and soon back
		hurtBy("many", "a", lb.Broken, lb.Overstay), hurtBy("many", "b", lb.Broken, lb.Overstay), // two of five
		safe("many", "c", 9000), safe("many", "d", 1), safe("many", "e", 1),
		safe("slow", "a", 700), safe("quick", "a", 10),
	}, 1))
	var names []string
	for _, l := range list[0].Locks {
		names = append(names, l.Name)
	}
	if got, want := strings.Join(names, " "), "quick slow many few"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	const share, outage = "a lock stands higher the smaller the share of its conclusive cells that went wrong in spite of the care, ", "then the shorter its longest outage"
	if got := ranking(nil); got != share+outage {
		t.Errorf("without a benchmark: %q", got)
	}
	if got := ranking(sampleBench()); got != share+"then the shorter its median hand-off, "+outage {
		t.Errorf("with a benchmark: %q", got)
	}
}
