package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestEdges is the rules of docs/history.md where they begin and end to hold: each is
// here because a checker without it would pass all other tests.
func TestEdges(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"nothing happened to a lock", `1 end ⇒ grant vacuous`},
		{"the first loss counts", `1 c A a;2 r A a ok;3 lost A a;4 c B b;5 r B b ok;9 lost A a ⇒ grant valid ⇒ belief valid`},
		{"a release of what may never have been granted", `1 c A a;2 C A a;3 R A a lost ⇒ grant valid`},
		{"a client that says its process lives nowhere else", `1 c v.A a worker=w;2 r v.A a ok;3 dead v;4 c B b;5 r B b ok ⇒ grant invalid ⇒ belief invalid`},
		{"and dies with it", `1 c v.A a worker=w;2 r v.A a ok;3 dead w;4 c B b;5 r B b ok ⇒ grant valid ⇒ belief valid`},

		{"a release that nobody needs, in the instant at which the lease ends",
			`1 c A a;2 r A a ok until=10;10 C A a;10 C B a;11 R A a ok;11 R B a ok ⇒ grant valid`},
		{"an unclear release may still come after a late grant",
			`1 c A a;2 c B b;2 r B b ok;3 C C a;4 R C a unknown;6 C B b;6 R B b ok;10 r A a ok ⇒ grant valid`},
		{"the first of two unclear releases may be the one", `1 c A a;2 r A a ok;3 C A a;4 R A a unknown;5 c B b;6 r B b ok;7 C A a;8 R A a unknown ⇒ grant valid`},
		{"a renewal after the release proves nothing",
			`1 c A a;2 r A a ok until=100;110 c B b;115 r B b ok;120 C A a;121 R A a ok;150 renew A a until=300 ⇒ grant valid`},
		{"nor does one after somebody else's",
			`1 c A a;2 r A a ok until=100;110 c B b;115 r B b ok;120 C C a;121 R C a ok;150 renew A a until=300 ⇒ grant valid`},
		{"nor one after the first of several", `1 c A a;2 r A a ok until=100;110 c B b;115 r B b ok;
			120 C A a;121 R A a unknown;150 renew A a until=300;160 C A a;161 R A a ok ⇒ grant valid`},
		{"one in the instant of the release does", `1 c A a;2 r A a ok until=200;250 renew A a until=600;250 C A a;251 R A a lost ⇒ grant invalid`},
		{"but not one behind it", `1 c A a;2 r A a ok until=200;210 c B b;240 r B b ok;250 C A a;250 renew A a until=600;251 R A a ok ⇒ grant valid`},
		{"nor one beside somebody else's", `1 c A a;2 r A a ok until=200;210 c B b;240 r B b ok;250 renew A a until=600;250 C C a;251 R C a ok ⇒ grant valid`},
		{"but beside one that failed", `1 c A a;2 r A a ok until=200;210 c B b;240 r B b ok;250 renew A a until=600;250 C A a;250 C C a;251 R A a ok;251 R C a fail ⇒ grant invalid`},
		{"nor beside one that is not clear, though its own comes first", `1 c A a;2 r A a ok until=200;210 c B b;240 r B b ok;250 renew A a until=600;250 C A a;250 C C a;251 R A a ok;251 R C a unknown ⇒ grant valid`},
		{"nothing ends before it was asked for", `3 C B a;4 R B a ok;5 c A a;6 r A a ok until=2 ⇒ grant invalid`},
		{"a renewal gives an end to what has none", `1 c A a;2 r A a ok;3 renew A a until=50;60 c B b;61 r B b ok ⇒ grant valid ⇒ belief valid`},
		{"each renewal counts", `1 c A a;2 r A a ok until=100;50 renew A a until=200;150 renew A a until=300;250 c B b;260 r B b ok ⇒ grant invalid ⇒ belief invalid`},
		{"renewals count in their order",
			`1 c A a;2 r A a ok until=100;50 renew A a until=200;110 c B b;120 r B b ok until=140;150 renew A a until=300 ⇒ belief invalid`},
		{"nobody relies on what was not granted yet", `1 c A a;1 c B b;2 r B b ok until=7;5 renew A a until=50;8 r A a ok until=3 ⇒ belief valid`},
		{"a reader and a writer rely on it", `1 c A a shared;2 r A a ok;3 c B b;4 r B b ok ⇒ belief invalid`},

		{"through between two holds that touch", `1 c A a;2 r A a ok;3 c C c;3 r C c unknown;3 C C c;5 C A a;5 R A a ok;5 c B b;5 r B b ok;8 R C c ok ⇒ grant valid`},
		{"not through two holds of two clients", `reentrant
			1 c A a shared;2 r A a ok;3 c B b shared;4 r B b ok;5 c A x;5 r A x unknown;5 C A x;7 R A x ok;8 C B b;8 R B b ok;10 C A a;10 R A a ok ⇒ grant invalid`},
		{"through as soon as the other has gone", `reentrant
			1 c A a shared;2 r A a ok;3 c B b shared;4 r B b ok;5 c A x;5 r A x unknown;5 C A x;8 C B b;8 R B b ok;9 R A x ok;10 C A a;10 R A a ok ⇒ grant valid`},
		{"through when the other had gone", `reentrant
			1 c A a shared;2 r A a ok;3 c B b shared;4 r B b ok;8 C B b;8 R B b ok;9 c A x;9 r A x unknown;9 C A x;9 R A x ok;10 C A a;10 R A a ok ⇒ grant valid`},
		{"through between two others", `reentrant
			1 c A a shared;2 r A a ok;3 c B b shared;4 r B b ok;5 c A x;5 r A x unknown;5 C A x;8 C B b;8 R B b ok;8 c C c shared;8 r C c ok;9 R A x ok;10 C A a;10 R A a ok
			⇒ grant valid`},
		{"two others are not oneself", `reentrant
			1 c A a shared;2 r A a ok;3 c B b shared;4 r B b ok;5 c C x;5 r C x unknown;5 C C x;7 R C x ok;8 C B b;8 R B b ok;10 C A a;10 R A a ok ⇒ grant invalid`},
		{"the other holds it twice", `reentrant
			1 c A a shared;2 r A a ok;3 c A d shared;3 r A d ok;3 c B b shared;4 r B b ok;6 C A d;6 R A d ok;7 c B x;7 r B x unknown;7 C B x;9 R B x ok;
			10 C A a;10 R A a ok;12 C B b;12 R B b ok ⇒ grant invalid`},
		{"one's own longer hold hides nobody", `reentrant
			1 c A a shared;2 r A a ok;3 c B b shared;3 r B b ok;4 c B x;4 r B x ok;5 C B x;5 R B x ok;50 C A a;50 R A a ok;60 C B b;60 R B b ok ⇒ grant invalid`},

		{"a write under what was not granted", `1 c A a;2 r A a unknown;3 lost A a;9 write A a seq=1 plain=0/0/1 ⇒ overstay valid`},
		{"a write after a renewal's end", `1 c A a;2 r A a ok;3 renew A a until=10;20 write A a seq=1 plain=0/0/1 ⇒ overstay invalid`},
		{"a write after a loss, within the lease", `1 c A a;2 r A a ok until=100;5 lost A a;9 write A a seq=1 plain=0/0/1 ⇒ overstay invalid`},
		{"a write in the gap", `1 c A a;2 r A a ok until=5;7 write A a seq=1 plain=0/0/1;9 renew A a until=20 ⇒ overstay invalid`},
		{"a write before the grant is known", `1 c A a;2 write A a seq=1 plain=0/0/1;3 r A a ok until=9 ⇒ overstay valid`},

		{"the highest token counts", `1 c A a;2 c B b;10 r A a ok token=9;11 r B b ok token=5;20 c C c;21 r C c ok token=7 ⇒ token invalid`},
		{"a grant without a token among others", `1 c A a;2 r A a ok token=5;3 c B b;4 r B b ok ⇒ token invalid`},
		{"a reader, a reader, and again the second alone", `reentrant
			1 c A a shared;2 r A a ok token=5;3 c B b shared;4 r B b ok token=5;5 c B x;6 r B x ok token=5 ⇒ token invalid`},
		{"no token is shared where nobody may re-enter", `1 c A a;2 r A a ok token=5;3 c A b;4 r A b ok token=5 ⇒ token invalid`},
		{"no re-entry in the instant at which all was given back", `reentrant
			1 c A a;2 r A a ok token=5;3 C A a;4 R A a ok;4 c A b;6 r A b ok token=5 ⇒ token invalid`},
		{"an unclear release gives nothing back", `reentrant
			1 c A a;2 r A a ok token=5;3 C A a;4 R A a unknown;5 c A b;6 r A b ok token=5 ⇒ token valid`},
		{"one that found it lost does", `reentrant
			1 c A a;2 r A a ok token=5;3 C A a;4 R A a lost;5 c A b;6 r A b ok token=5 ⇒ token invalid`},
		{"nothing is given back before the reply", `reentrant
			1 c A a;2 r A a ok token=5;3 C B a;4 c A b;5 R B a ok;6 r A b ok token=5 ⇒ token valid`},
		{"what somebody else gives back in that instant may still be held", `reentrant
			1 c A a;2 r A a ok token=5;3 C B a;4 R B a ok;4 c A b;6 r A b ok token=5 ⇒ token valid`},
		{"a re-entry while the re-entry is held", `reentrant
			1 c A a;2 r A a ok token=5;3 c A b;4 r A b ok token=5;5 C A a;6 R A a ok;7 c A c;8 r A c ok token=5 ⇒ token valid`},
		{"one client does one thing after the other, in one instant, too", `1 c A a;2 r A a ok token=5;2 c A b;3 r A b ok token=4 ⇒ token invalid`},
		{"who asked first may be granted last",
			`1 c H h;1 c Y y;5 r H h ok token=9;10 c X x;11 r X x ok token=10;12 r Y y ok token=3 ⇒ token valid`},
		{"a lock without tokens beside one with", `1 c A a;2 r A a ok token=5;3 c B b lock=m;4 r B b ok lock=m ⇒ token valid`},
		{"each lock has its tokens", `1 c A a;2 r A a ok token=5;3 c B b lock=m;4 r B b ok lock=m token=5 ⇒ token valid`},

		{"a base that the store never had", `1 c A a;2 r A a ok;3 write A a seq=1 plain=0/5/6 ⇒ store invalid`},
		{"only the checked copy is hurt", `1 c A a;2 r A a ok;3 write A a seq=1 plain=0/0/1 checked=0/3/4 ⇒ store invalid`},
		{"each lock has its copies", `1 c A a;2 r A a ok;3 write A a seq=1 plain=0/0/1;4 c B b lock=m;5 r B b ok lock=m;6 read B b lock=m seq=2 plain=0 ⇒ store valid`},
	} {
		t.Run(tt.name, func(t *testing.T) { means(t, tt.text) })
	}
}

// means judges a history and compares with what stands behind each ⇒.
func means(t *testing.T, text string) {
	t.Helper()
	s := shorthand.Must(strings.ReplaceAll(text, "⇒", "\n⇒"))
	res := judge(s.Plan, s.Events)
	for _, want := range s.Wants {
		name, verdict, _ := strings.Cut(want, " ")
		if l := layerOf(res, name); string(l.Verdict) != verdict {
			t.Errorf("%s is %s, want %s: %s %+v", name, l.Verdict, verdict, l.Summary, l.Findings)
		}
	}
}

// TestProgressEdges does the same for how long a lock must have been asked for, not
// spoken for and free of faults. B asks for it at last.
func TestProgressEdges(t *testing.T) {
	polls := func(take, gap int) (s string) {
		for at := 5; at < 11*gap; at += take + gap {
			s += fmt.Sprintf("%d c P p%d;%d r P p%d fail;", at, at, at+take, at)
		}
		return s
	}
	const before = "planned;ms;0 c A a;1 r A a ok until=2;"
	const fault = "3 fault f strike;4 fault f healed;"
	for _, tt := range []struct{ name, text, want string }{
		{"ten seconds", before + fault + "5 c B b;10005 end", "invalid"},
		{"a millisecond less", before + fault + "5 c B b;10004 end", "undecided"},
		{"without a fault", before + "5 c B b;10005 end", "invalid"},
		{"without a plan", "ms;0 c A a;1 r A a ok until=2;" + fault + "5 c B b;10005 end", "invalid"},
		{"from the last grant on", before + fault + "5 c C c;7000 r C c ok;7001 C C c;7002 R C c ok;7003 c B b;16000 end", "valid"},
		{"polls a second apart", before + fault + polls(1, 1000), "invalid"},
		{"polls that take no time", before + fault + polls(0, 1000), "invalid"},
		{"somebody else's poll between those of one client", "planned;ms;0 c A a;0 c B b;0 c A x;0 r A x unknown;0 r B b fail;1000 c A d;2000 r A d fail;4000 c A f;12500 end", "valid"},
		{"polls further apart", before + fault + polls(1, 1001), "undecided"},
		{"not while it asks for something else", before + fault + "5 c B b;1000 c B x lock=m;1001 r B x ok lock=m;12000 end", "valid"},
		{"two silences", before + fault + "5 c w.B b;5000 silent w call=1000;9000 silent w call=6000;15000 end", "undecided"},
		{"a silence within a silence", before + fault + "10000 silent w call=5000;12000 c w.B b;20000 silent w call=1000;22500 end", "undecided"},
		{"after the call of a release of what has no end", "planned;ms;0 c A a;1 r A a ok;2 C A a;3 R A a unknown;" + fault + "5 c B b;10005 end", "invalid"},
		{"after a release that found it lost", "planned;ms;0 c A a;1 r A a ok until=90000;2 C A a;3 R A a lost;" + fault + "5 c B b;10005 end", "invalid"},
		{"a renewal that may have come before somebody else's release", "planned;ms;0 c A a;1 r A a ok until=50;2 C C a;2 renew A a until=90000;" + fault + "5 c B b;10005 end", "undecided"},
		{"or after it, so that it has no end", "planned;ms;0 c A a;1 r A a ok;2 C C a;2 renew A a until=50;" + fault + "5 c B b;10055 end", "undecided"},
		{"a renewal that came after it", "planned;ms;0 c A a;1 r A a ok until=50;2 C C a;3 renew A a until=90000;" + fault + "5 c B b;10055 end", "invalid"},
		{"but not before its reply", "planned;ms;0 c A a;1 r A a ok until=90000;2 C A a;" + fault + "5 c B b;5000 R A a ok;10005 end", "undecided"},
		{"nor after an unclear one within the lease", "planned;ms;0 c A a;1 r A a ok until=90000;2 C A a;3 R A a unknown;" + fault + "5 c B b;10005 end", "undecided"},

		{"another fault was healed", before + "3 fault f strike;4 fault g healed;5 c B b;20000 end", "undecided"},
		{"healed again means nothing", before + fault + "5 c B b;9000 fault f healed;10005 end", "invalid"},
		{"about to be healed is not healed", before + "3 fault f strike;4 fault f heal;5 c B b;9000 fault f healed;10005 end", "undecided"},
		{"nothing since the last heal", before + "3 fault f strike;4 fault g strike;5 fault f healed;6 c C c;7 r C c ok until=8;6000 fault g healed;6001 c B b;7002 end", "undecided"},
		{"granted in the instant of the heal", "planned;ms;3 fault f strike;4 c A a;5 fault f healed;5 r A a ok;6 c B b;9 end", "valid"},
		{"nobody asked since the heal", before + fault + "9 end", "valid"},
		{"one lock was granted, another not", before + fault + "5 c A d;6 r A d ok;7 c B b lock=m;2000 end", "undecided"},
		{"not for more than a second", before + fault + "5 c A d;6 r A d ok;7 c B b lock=m;1007 end", "valid"},
	} {
		t.Run(tt.name, func(t *testing.T) { means(t, tt.text+"⇒ progress "+tt.want) })
	}
	if got := StuckAfter(4 * time.Second); got != 12*time.Second {
		t.Errorf("with a TTL of 4 s stuck after %v", got)
	}
}

// TestNamesOfMechanisms: the stories that are told apart by an instant.
func TestNamesOfMechanisms(t *testing.T) {
	for _, tt := range []struct{ name, text, mechanism string }{
		{"leases that touch are no double grant", `1 c A a;2 r A a ok until=5;3 read A a seq=1 plain=0;4 c B b;5 r B b ok;8 read B b seq=2 plain=0;
			9 write B b seq=3 plain=0/0/1;12 write A a seq=4 plain=1/0/1`, lb.Overstay},
		{"leases that overlapped are one, whenever the write came", `1 c A a;2 r A a ok until=6;3 read A a seq=1 plain=0;4 c B b;5 r B b ok;8 read B b seq=2 plain=0;
			9 write B b seq=3 plain=0/0/1;12 write A a seq=4 plain=1/0/1`, lb.DoubleGrant},
		{"the last instant of a lease is within it", `1 c B b;2 r B b ok;3 C B b;4 R B b ok;5 c A a;6 r A a ok until=12;7 read A a seq=1 plain=0;
			8 write B b seq=2 plain=0/0/1;12 write A a seq=3 plain=1/0/1`, lb.EarlyRelease},
		{"and so is the first", `1 c B b;2 r B b ok;3 C B b;4 R B b ok;5 c A a;6 r A a ok until=12;6 read A a seq=1 plain=0;
			6 write B b seq=2 plain=0/0/1;6 write A a seq=3 plain=1/0/1`, lb.EarlyRelease},
	} {
		l := layerOf(judge(history.Plan{}, shorthand.Must(tt.text).Events), LayerStore)
		if len(l.Findings) != 1 || l.Findings[0].Mechanism != tt.mechanism {
			t.Errorf("%s: %+v, want %q", tt.name, l, tt.mechanism)
		}
	}
}

// TestWhoClashed: a finding names two that may not hold the lock together, and porcupine
// agrees.
func TestWhoClashed(t *testing.T) {
	for _, tt := range []struct {
		text string
		ids  []string
	}{
		{`1 c A s shared;2 r A s ok;3 c A e;4 r A e ok;5 c B b shared;6 r B b ok`, []string{"e", "b"}},
		{`1 c C c shared;2 r C c ok;3 c D d shared;4 r D d ok;5 c C x;6 r C x ok`, []string{"d", "x"}},
		{`1 c A a shared;2 r A a ok until=5;3 c B b shared;4 r B b ok;6 c C c;7 r C c ok`, []string{"b", "c"}},
	} {
		l := layerOf(judge(history.Plan{}, shorthand.Must(tt.text).Events), LayerBelief)
		if len(l.Findings) != 1 || !slices.Equal(l.Findings[0].IDs, tt.ids) || !l.Findings[0].Confirmed {
			t.Errorf("%s: %+v, want %v", tt.text, l, tt.ids)
		}
	}
}
