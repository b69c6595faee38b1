package workloads

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/sketch"
)

// TestJudges are histories, in the notation of docs/history.md, with what the workload
// makes of them in its own words.
func TestJudges(t *testing.T) {
	const twoHolders = "1 c A a;2 r A a ok;3 c B b;4 r B b ok;"
	for _, tt := range []struct {
		name string
		of   Judge
		text string
		want checker.Verdict
		says string
	}{
		{"a shop without customers", Stock{}, twoHolders, checker.Vacuous, "nothing was sold"},
		{"a shop", Stock{}, twoHolders + "5 write A a seq=1 plain=0/0/20; 6 write B b seq=2 plain=20/20/19; 7 write A a seq=3 plain=19/19/18",
			checker.Valid, "the books are right: 2 sold and 18 left of 20 delivered; with a look"},
		{"the last item, twice", Stock{}, twoHolders + "5 write A a seq=1 plain=1/1/0; 6 write B b seq=2 plain=0/1/0 checked=0/1/skipped",
			checker.Invalid, "oversold by 1: 2 sold and 0 left of 1 delivered; with a look at the lease before each write: the books are right"},
		{"a delivery over a delivery", Stock{}, twoHolders + "5 write A a seq=1 plain=0/0/20; 6 write B b seq=2 plain=20/0/20;7 write A a seq=3 plain=20/20/19",
			checker.Invalid, "20 items vanished from the books: 1 sold and 19 left of 40 delivered"},
		{"two goods, one wrong either way", Stock{}, twoHolders + "5 c A c lock=m;6 r A c ok lock=m;7 write A a seq=1 plain=1/1/0; 8 write B b seq=2 plain=0/1/0;" +
			"9 write A c lock=m seq=3 plain=0/0/20; 10 write A c lock=m seq=4 plain=20/0/20", checker.Invalid, "oversold by 1, 20 items vanished"},

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
		{"half a transfer", Transfer{}, "1 c A a;2 r A a ok;3 c A b lock=m;4 r A b ok lock=m;5 write A a seq=1 plain=100/100/93;6 write A b lock=m seq=2 plain=100/100/skipped checked=100/100/107",
			checker.Invalid, "in all accounts 193, and not 200; with a look at the lease before each write: in all accounts 200, as there should be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sketch.Must(tt.text)
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
			"oversold by 1: 2 sold and 0 left of 1 delivered"},
		{Once{}, "ms;1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 write A a seq=1 plain=0/0/1;9 write B b seq=2 plain=1/0/1",
			"task-1 ran twice: by A at 0.004 s and by B at 0.008 s"},
		{Transfer{}, "1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 write A a seq=1 plain=100/100/93;6 write B b seq=2 plain=93/100/104",
			"there are 4 more than the 100 in all accounts: B wrote 104 to l over 93"},
		{Transfer{}, "1 c A a;2 r A a ok;3 c B b;4 r B b ok;5 write A a seq=1 plain=100/100/107;6 write B b seq=2 plain=107/100/99",
			"1 of the 100 in all accounts are gone: B wrote 99 to l over 107"},
	} {
		s := sketch.Must(tt.text)
		ix, err := history.Of(s.Events)
		if err != nil {
			t.Fatal(err)
		}
		if l := tt.of.Judge(ix, s.Plan); len(l.Findings) == 0 || l.Findings[0].Sentence != tt.want {
			t.Errorf("%+v\nwant %s", l, tt.want)
		}
	}
}
