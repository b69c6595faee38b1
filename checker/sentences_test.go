package checker

import (
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestSentences: what is said of histories that are easily told wrong.
func TestSentences(t *testing.T) {
	for name, tt := range map[string]struct{ text, layer, says, not string }{
		"a lease that is over and one that began again are two": {`
			1 c A a; 2 r A a ok until=100
			120 renew A a until=900
			130 c B b; 140 r B b ok until=500
			700 C A a; 701 R A a ok`, LayerGrant,
			"A was granted it at 0.001 s until 0.099 s, began again with a renewal at 0.119 s until 0.899 s", "0.001 s until 0.899 s"},
		"a lease that was renewed after the other grant is told as it stood then": {`
			1 c A a; 2 r A a ok until=100
			30 c B b; 40 r B b ok until=90
			50 renew A a until=900
			700 C A a; 701 R A a ok`, LayerGrant,
			"B was granted the lock at 0.039 s while A still held it, 0.060 s before the end of its lease, as it stood then: A was granted it at 0.001 s until 0.099 s, renewed until 0.899 s", ""},
		"of three the first two relied on it together for less than all": {`
			1 c A a; 2 r A a ok until=30
			3 c B b; 20 r B b ok until=100
			21 c C c; 25 r C c ok until=90`, LayerBelief,
			"A and B both relied on the lock from 0.019 s to 0.029 s: A was granted it at 0.001 s until 0.029 s", ""},
		"what was given back twice was not dropped by the service": {`
			1 c A a; 2 r A a ok
			3 C A a; 4 R A a ok
			5 C A a; 6 R A a ok`, LayerGrant, "[] the lock was released twice", "vanished"},
		"who writes while it shares the lock breaks in on nobody's grant": {`
			1 c A a shared; 2 r A a ok
			3 c B b shared; 4 r B b ok
			5 read A a seq=1 plain=0
			6 read B b seq=2 plain=0
			7 write B b seq=3 plain=0/0/1
			8 write A a seq=4 plain=1/0/1`, LayerStore, "[] A wrote 1 over 1", "double grant"},
		"a lease that somebody let go in between and renewed later": {`
			1 c A a shared; 2 r A a ok until=100
			3 read A a seq=1 plain=7
			130 c B b; 140 r B b ok until=200; 150 write B b seq=2 plain=7/7/8; 160 C B b; 161 R B b ok
			200 renew A a until=900
			300 read A a seq=3 plain=8/7/landed`, LayerStore,
			"[overstay] A found 8 at 0.299 s (plain, checked): it had read 7 at 0.002 s, by all it knew it held the lock until 0.899 s, though its lease had ended at 0.099 s and began again at 0.199 s", "double grant"},
		"what a client did to itself": {`
			1 c A a; 2 r A a ok
			3 read A a seq=1 plain=0
			4 c A b; 5 r A b ok
			6 write A b seq=2 plain=0/0/1
			7 write A a seq=3 plain=1/0/1`, LayerStore,
			"[] A wrote 1 over 1", "double grant"},
		"nothing of others was undone then": {`
			1 c A a; 2 r A a ok
			3 read A a seq=1 plain=0
			4 c A b; 5 r A b ok
			6 write A b seq=2 plain=0/0/1
			7 write A a seq=3 plain=1/0/1`, LayerStore, "by all it knew", "by others"},
		"a base that nobody had read": {`
			1 c A a; 2 r A a ok
			3 read A a seq=1 plain=0
			4 write A a seq=2 plain=0/5/6`, LayerStore, "it took it for 5", "it had read"},
		"readers are together": {`
			1 c A a shared; 2 r A a ok token=1
			3 c B b shared; 4 r B b ok token=1`, LayerBelief, "never two at once that exclude each other", "owners"},
		"and share a token": {`
			1 c A a shared; 2 r A a ok token=1
			3 c B b shared; 4 r B b ok token=1`, LayerToken, "2 tokens, none out of order or repeated", "greater"},
		"a loss of which nobody was told by the end": {`
			1 c A a; 2 r A a ok
			3 c B b; 4 r B b ok
			900 end`, LayerTold, "never did both go on for more than", "heard"},
	} {
		s := shorthand.Must("ms\n" + strings.ReplaceAll(tt.text, "; ", "\n"))
		s.Plan.Traits.LostNotice = true
		ix, err := history.Of(s.Events)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l := layerOf(Check(t.Context(), s.Plan, ix), tt.layer)
		said := l.Summary
		for _, f := range l.Findings {
			said += "; [" + f.Mechanism + "] " + f.Sentence
		}
		if !strings.Contains(said, tt.says) || tt.not != "" && strings.Contains(said, tt.not) {
			t.Errorf("%s: says %q\nwant %q, not %q", name, said, tt.says, tt.not)
		}
	}
}

// TestStarvedByErringClocks: clocks that err take the excuse of who did not run not away.
func TestStarvedByErringClocks(t *testing.T) {
	for err, want := range map[string]string{"0": "INCONCLUSIVE", "3000000": "INCONCLUSIVE"} {
		text := `{"lockbench":"history","version":1,"clock":{"name":"h","offset_ns":0,"error_ns":` + err + `}}
{"t":100000000,"e":"call","op":"acquire","client":"w1.A","lock":"l","id":"a"}
{"t":101000000,"e":"return","op":"acquire","client":"w1.A","lock":"l","id":"a","result":"ok","until":200000000}
{"t":102000000,"e":"read","client":"w1.A","lock":"l","id":"a","seq":1,"copies":{"plain":{"value":0},"checked":{"value":0}}}
{"t":203000000,"e":"silent","worker":"w1","call":110000000}
{"t":201000000,"e":"call","op":"acquire","client":"w2.B","lock":"l","id":"b"}
{"t":201500000,"e":"return","op":"acquire","client":"w2.B","lock":"l","id":"b","result":"ok","until":300000000}
{"t":202000000,"e":"write","client":"w2.B","lock":"l","id":"b","seq":2,"copies":{"plain":{"value":0,"base":0,"new":1,"result":"landed"},"checked":{"value":0,"base":0,"new":1,"result":"landed"}}}
{"t":203500000,"e":"write","client":"w1.A","lock":"l","id":"a","seq":3,"copies":{"plain":{"value":1,"base":0,"new":1,"result":"landed"},"checked":{"value":1,"base":0,"new":1,"result":"landed"}}}
`
		ix, e := history.ReadFrom(t.Context(), strings.NewReader(text), "h")
		if e != nil {
			t.Fatal(e)
		}
		if r := Check(t.Context(), history.Plan{TTL: 100e6}, ix); string(r.Outcome) != want || r.Starved == "" {
			t.Errorf("error %s: %s: %s", err, r.Outcome, r.Reason)
		}
	}
}
