package workloads

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestJudges are histories, in the notation of docs/history.md, with what the workload
// makes of them in its own words.
func TestJudges(t *testing.T) {
	const (
		twoHolders = "1 c A a;2 r A a ok;3 c B b;4 r B b ok;"
		readers    = "1 c A a shared;2 r A a ok;3 c B b shared;4 r B b ok;"
		nested     = "reentrant;1 c A a;2 r A a ok;3 c A b;4 r A b ok;5 C A b;6 R A b ok;"
	)
	busy := "" // the lock service is well
	for at := 20; at < 940; at += 90 {
		busy += fmt.Sprintf("%d c E e%d lock=m;%d r E e%d ok lock=m;%d C E e%d lock=m;%d R E e%d ok lock=m;", at, at, at+1, at, at+2, at, at+3, at)
	}
	for _, tt := range []struct {
		name string
		of   Judge
		text string
		want checker.Verdict
		says string
	}{
		{"a shop without customers", Stock{}, twoHolders, checker.Vacuous, "nothing was sold"},
		{"a shop", Stock{}, twoHolders + "5 write A a seq=1 plain=0/0/20; 6 write B b seq=2 plain=20/20/19; 7 write A a seq=3 plain=19/19/18",
			checker.Valid, "the books are right: 2 sold and 18 left of 20 in all; with a look"},
		{"the last item, twice", Stock{}, twoHolders + "5 write A a seq=1 plain=1/1/0; 6 write B b seq=2 plain=0/1/0 checked=0/1/skipped",
			checker.Invalid, "oversold by 1: 2 sold and 0 left of 1 in all; with a look at the lease before each write: the books are right"},
		{"a delivery over a delivery", Stock{}, twoHolders + "5 write A a seq=1 plain=0/0/20; 6 write B b seq=2 plain=20/0/20;7 write A a seq=3 plain=20/20/19",
			checker.Invalid, "20 items vanished from the books: 1 sold and 19 left of 40 in all"},
		{"two goods, one wrong either way", Stock{}, twoHolders + "5 c A c lock=m;6 r A c ok lock=m;7 write A a seq=1 plain=1/1/0; 8 write B b seq=2 plain=0/1/0;" +
			"9 write A c lock=m seq=3 plain=0/0/20; 10 write A c lock=m seq=4 plain=20/0/20", checker.Invalid, "oversold by 1, 20 items vanished"},

		{"nobody draws", Reward{Record: true}, twoHolders, checker.Vacuous, "no reward"},
		{"rewards", Reward{Record: true}, twoHolders + "5 write A a seq=1 plain=0/0/1;6 write B b seq=2 plain=1/1/2", checker.Valid, "2 rewards, each drawn once; with a look"},
		{"a reward twice in spite of a record", Reward{Record: true}, twoHolders + "5 write A a seq=1 plain=0/0/1;6 write B b seq=2 plain=1/0/1 checked=1/0/skipped",
			checker.Invalid, "1 reward, 1 drawn more than once; with a look at the lease before each write: 1 reward, each drawn once"},
		{"a record written back", Reward{Record: true}, twoHolders + "5 write A a seq=1 plain=0/0/1;6 write B b seq=2 plain=1/1/1;7 write B b seq=3 plain=1/1/2", checker.Valid,
			"2 rewards, each drawn once; with a look"},
		{"a reward twice without one", Reward{}, twoHolders + "5 write A a seq=1 plain=0/0/1;6 write B b seq=2 plain=1/1/1;7 write B b seq=3 plain=1/1/2", checker.Valid,
			"2 rewards, 1 drawn more than once, which no lock prevents"},

		{"no tasks", Once{}, twoHolders, checker.Vacuous, "no task"},
		{"tasks", Once{}, twoHolders + "5 write A a seq=1 plain=0/0/1;6 write B b seq=2 plain=1/1/2", checker.Valid, "2 tasks, each ran once"},
		{"a task twice", Once{}, twoHolders + "5 write A a seq=1 plain=0/0/1;6 write B b seq=2 plain=1/0/1 checked=1/0/skipped",
			checker.Invalid, "1 task, 1 ran more than once; with a look at the lease before each write: 1 task, each ran once"},
		{"behind the fence once", Once{}, twoHolders + "5 write A a seq=1 plain=0/0/1 fenced=0/0/1;6 write B b seq=2 plain=1/0/1 fenced=1/0/refused",
			checker.Invalid, "behind the fence: 1 task, each ran once"},
		{"a key", Once{Key: true}, twoHolders + "5 write A a seq=1 plain=0/0/1;6 write B b seq=2 plain=1/0/refused",
			checker.Valid, "1 task, each ran once, 1 repetition refused by the key"},

		{"no transfers", Transfer{}, twoHolders, checker.Vacuous, "no account"},
		{"transfers", Transfer{}, "1 c A a;2 r A a ok;3 c A b lock=m;4 r A b ok lock=m;5 write A a seq=1 plain=100/100/93;6 write A b lock=m seq=2 plain=100/100/107",
			checker.Valid, "in all accounts 200, as there should be"},
		{"half a transfer", Transfer{}, "1 c A a;2 r A a ok;3 c A b lock=m;4 r A b ok lock=m;5 write A a seq=1 plain=100/100/93;6 write A b lock=m seq=2 plain=100/100/skipped checked=100/100/107;9 end",
			checker.Invalid, "in all accounts 193, and not 200; with a look at the lease before each write: in all accounts 200, as there should be"},
		{"half a transfer, and the run was cut short", Transfer{}, "1 c A a;2 r A a ok;3 c A b lock=m;4 r A b ok lock=m;5 write A a seq=1 plain=100/100/93;6 read A b lock=m seq=2 plain=100",
			checker.Undecided, "cut short within a transfer"},
		{"a transfer is undone in both accounts", Transfer{}, "1 c A a;2 r A a ok;3 c A b lock=m;4 r A b ok lock=m;5 c B c;6 r B c ok;7 c B d lock=m;8 r B d ok lock=m;" +
			"11 write A a seq=1 plain=100/100/93;12 write A b lock=m seq=2 plain=100/100/107;13 write B c seq=3 plain=93/100/99;14 write B d lock=m seq=4 plain=107/100/101",
			checker.Invalid, "in all accounts 200, as there should be, but not where it should be: 2 accounts lost a transfer"},

		{"nobody reads", Readers{}, twoHolders + "5 write A a seq=1 plain=0/0/1", checker.Vacuous, "nobody read"},
		{"readers", Readers{}, readers + "5 read A a seq=1 plain=7;6 read B b seq=2 plain=7;7 read A a seq=3 plain=7/7/landed;8 read B b seq=4 plain=7/7/landed;9 C A a",
			checker.Valid, "2 readers, all saw the same twice; with a look at the lease before each write: 2 readers, all saw the same twice; up to 2 at once"},
		{"a writer among them", Readers{}, readers + "5 read A a seq=1 plain=7;6 c C c;7 r C c ok;8 write C c seq=2 plain=7/7/8;9 read A a seq=3 plain=8/7/landed checked=8/7/skipped",
			checker.Invalid, "1 reader, 1 did not see the same twice; with a look at the lease before each write: 0 readers, all"},
		{"readers that never meet", Readers{}, "1 c A a shared;2 r A a ok;3 read A a seq=1 plain=7;4 read A a seq=2 plain=7/7/landed;5 C A a;6 R A a ok",
			checker.Vacuous, "the shared mode shares nothing"},

		{"nobody gives up", Impatient{}, twoHolders, checker.Vacuous, "0 gave up"},
		{"nothing left behind", Impatient{}, "planned;" + twoHolders + "5 c C c;6 r C c fail;9 end", checker.Valid, "1 gave up, 2 were granted a lock: nothing was left behind"},
		{"a place in the queue", Impatient{}, "planned;gives up;ms;1 c A a;2 r A a ok;3 c D d;8 r D d fail;9 C A a;10 R A a ok;11 c C c;" + busy + "950 end",
			checker.Invalid, "1 lock stayed taken that nobody had"},

		{"nobody nests", Reentrant{}, "reentrant;1 c A a;2 r A a ok;3 C A a;4 R A a ok;5 c A b;6 r A b ok;7 C A b;8 R A b ok", checker.Vacuous, "nobody held the lock twice"},
		{"nested", Reentrant{}, nested + "10 C A a;11 R A a ok;12 c B c;13 r B c ok", checker.Valid, "1 nested hold, and the outer one was left each time"},
		{"another hears late of a lease that is over", Reentrant{}, "ms;" + nested + "0 c B c;8 r B c ok until=1;10 C A a;11 R A a ok", checker.Valid, "1 nested hold, and the outer one was left each time"},
		{"the outer hold is gone with the inner", Reentrant{}, nested + "8 c B c;9 r B c ok;10 C A a;11 R A a ok", checker.Invalid, "1 nested hold, of which 1 lost the outer one with the inner"},
		{"the outer lease had ended", Reentrant{}, "reentrant;1 c A a;2 r A a ok until=7;3 c A b;4 r A b ok;5 C A b;6 R A b ok;8 c B c;9 r B c ok;10 C A a;11 R A a ok", checker.Valid, ""},
		{"it waits for itself", Reentrant{}, "reentrant;ms;1 c A a;2 r A a ok;3 c A b;900 end", checker.Invalid, "clients waited for themselves 1 time"},
		{"not for long", Reentrant{}, "reentrant;ms;1 c A a;2 r A a ok;3 c A b;400 r A b ok;401 C A b;402 R A b ok;410 C A a;900 end", checker.Valid, ""},
		{"while it was frozen", Reentrant{}, "reentrant;ms;1 c w.A a;2 r w.A a ok until=800;3 c w.A b;900 silent w call=10;901 r w.A b ok;902 C w.A b;903 R w.A b ok;910 C w.A a;950 end", checker.Valid, ""},

		{"all give it back", NeverReleases{}, "ms;1 c A a;2 r A a ok;3 C A a;4 R A a ok;5 c B b;6 r B b ok;9 C B b;10 R B b ok", checker.Vacuous, "no forgotten hold"},
		{"it comes back", NeverReleases{}, "ms;1 c A a;2 r A a ok;3 c B b;1500 r B b ok;1510 C B b;1511 R B b ok;3000 end", checker.Valid, "1 hold never given back: others had the lock again after 1.498 s at most"},
		{"it never comes back", NeverReleases{}, "ms;1 c A a;2 r A a ok;3 c B b;6000 end", checker.Invalid, "1 hold never given back: others did without the lock for 5.998 s"},
		{"it comes back late", NeverReleases{}, "ms;1 c A a;2 r A a ok;3 c B b;5000 r B b ok;5001 C B b;5002 R B b ok;6000 end", checker.Invalid, "others did without the lock for 4.998 s"},
		{"the holder takes it again and again", NeverReleases{}, "reentrant;ms;1 c A a;2 r A a ok;3 c B b;1500 c A c;1501 r A c ok;1502 C A c;1503 R A c ok;6000 end", checker.Invalid, "others did without"},
		{"the run was over", NeverReleases{}, "ms;1 c A a;2 r A a ok;3 c B b;900 end", checker.Vacuous, "no forgotten hold"},
		{"nobody else asked", NeverReleases{}, "ms;1 c A a;2 r A a ok;6000 end", checker.Vacuous, "no forgotten hold"},
		{"nobody had it again, and somebody stood still", NeverReleases{}, "ms;1 c A a;2 r A a ok;3 c w.B b;5000 silent w call=10;6000 end", checker.Vacuous, "no forgotten hold"},
		{"somebody stood still for a moment, long before", NeverReleases{}, "ms;1 c A a;2 r A a ok;3 c w.B b;500 silent w call=10;6000 end", checker.Invalid, "others did without the lock for 5.998 s"},
		{"somebody stood still", NeverReleases{}, "ms;1 c A a;2 r A a ok;3 c w.B b;5000 silent w call=10;5001 r w.B b ok;6000 end", checker.Valid, "after 4.999 s at most"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := shorthand.Must(tt.text)
			ix, err := history.Of(s.Events)
			if err != nil {
				t.Fatal(err)
			}
			l := tt.of.Judge(ix, s.Plan)
			if l.Verdict != tt.want || !strings.Contains(l.Summary, tt.says) {
				t.Errorf("%s: %s\nwant %s: %s", l.Verdict, l.Summary, tt.want, tt.says)
			}
			if (l.Verdict == checker.Invalid) != (len(l.Findings) > 0) {
				t.Errorf("%s with %d findings", l.Verdict, len(l.Findings))
			}
			for _, f := range l.Findings {
				if f.Sentence == "" || f.At < ix.Start || f.At > ix.Last || f.From > f.To || f.Lock == "" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// TestWords are the sentences of the findings.
func TestWords(t *testing.T) {
	for _, tt := range []struct {
		of   Judge
		text string
		want string
	}{
		{Stock{}, "1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 write A a seq=1 plain=1/1/0; 6 write B b seq=2 plain=0/1/0",
			"oversold by 1: 2 sold and 0 left of 1 in all"},
		{Once{}, "ms;1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 write A a seq=1 plain=0/0/1;9 write B b seq=2 plain=1/0/1",
			"task-1 ran twice: by A at 0.004 s and by B at 0.008 s"},
		{Reward{Record: true}, "ms;1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 write A a seq=1 plain=0/0/1;9 write B b seq=2 plain=1/0/1",
			"reward-1 was drawn twice: by A at 0.004 s and by B at 0.008 s"},
		{Transfer{}, "1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 write A a seq=1 plain=100/100/93;6 write B b seq=2 plain=93/100/104",
			"there are 4 more than the 100 in all accounts: B wrote 104 to l over 93"},
		{Transfer{}, "1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 write A a seq=1 plain=100/100/107;6 write B b seq=2 plain=107/100/99",
			"1 of the 100 in all accounts are gone: B wrote 99 to l over 107"},
		{Readers{}, "ms;1 c A a shared;2 r A a ok;3 read A a seq=1 plain=7;4 c B b;5 r B b ok;6 write B b seq=2 plain=7/7/8;9 read A a seq=3 plain=8/7/landed",
			"A read 7 at 0.002 s, and 8 when it looked again at 0.008 s, under one shared lock; B had written in between"},
		{Reentrant{}, "reentrant;ms;1 c A a;2 r A a ok;3 c A b;4 r A b ok;5 C A b;6 R A b ok;8 c B c;9 r B c ok;11 C A a;12 R A a ok",
			"A gave back one of its two holds at 0.004 s, and B was granted the lock at 0.008 s, before it gave back the other at 0.010 s"},
		{NeverReleases{}, "ms;1 c A a;2 r A a ok;3 c B b;6000 end",
			"A was granted the lock at 0.001 s and never gave it back, its process lived on, and nobody else had been granted it when the run was over, 5.998 s later"},
	} {
		s := shorthand.Must(tt.text)
		ix, err := history.Of(s.Events)
		if err != nil {
			t.Fatal(err)
		}
		if l := tt.of.Judge(ix, s.Plan); len(l.Findings) == 0 || l.Findings[0].Sentence != tt.want {
			t.Errorf("%+v\nwant %s", l, tt.want)
		}
	}
}
